package cmd

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"logdir/recovery"
	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/cleaner"
	"logdir/store/cluster"
	"logdir/store/vfs"
)

// compactOptions are the flags of "logdir compact".
type compactOptions struct {
	deleteRetentionMs int64
	dryRun            bool
	quarantine        string
	given             func(flag string) bool
}

func newCompactCmd(env *Env) *cobra.Command {
	o := &compactOptions{}
	c := &cobra.Command{
		Use:   "compact TARGET...",
		Short: "keep the last record of each key",
		Long: `One pass of compaction over the closed segments of a topic whose cleanup.policy has
compact: of each key the last record stays; records without a key, and those of aborted
transactions, go. Offsets never change. A record with a null value (a tombstone) stays for
delete.retention.ms after the first pass that meets it, then goes in a later one.

The old segments are kept in the quarantine; "logdir undo" puts them back. The active
segment is left alone: roll it first to have it compacted.`,
		Example: `  logdir compact users --dry-run
  logdir roll users && logdir compact users
  logdir compact users:0@2 --delete-retention-ms 0`,
		Args:        cobra.MinimumNArgs(1),
		Annotations: about("0 1 2 3 4 5 9", "logdir-roll(1)", "logdir-undo(1)"),
		RunE: func(c *cobra.Command, targets []string) error {
			return o.run(c.Context(), env, targets)
		},
	}
	f := c.Flags()
	o.given = f.Changed
	f.Int64Var(&o.deleteRetentionMs, "delete-retention-ms", 0, "keep tombstones for so many `ms`, instead of the topic's delete.retention.ms")
	f.BoolVar(&o.dryRun, "dry-run", false, "show the same row, but write nothing")
	f.StringVar(&o.quarantine, "quarantine", "", "`directory` for the segments that are taken out (default quarantine/ in the cluster)")
	return c
}

func (o *compactOptions) run(ctx context.Context, env *Env, targets []string) error {
	if o.deleteRetentionMs < 0 {
		return usagef("--delete-retention-ms %d is negative", o.deleteRetentionMs)
	}
	c, err := env.openCluster(store.FsyncClose)
	if err != nil {
		return err
	}
	return errors.Join(o.compact(ctx, env, c, targets), c.Close())
}

func (o *compactOptions) compact(ctx context.Context, env *Env, c *cluster.Cluster, targets []string) error {
	v, err := cluster.OpenView(env.FS, env.Global.DataDir)
	if err != nil {
		return err
	}
	refs, leaderless, err := resolve(v, targets, false)
	if err != nil {
		return err
	}
	r := &repair{env: env, view: v, refs: refs, flags: repairFlags{dryRun: o.dryRun, quarantine: o.quarantine}, command: "compact"}
	if err := r.checkQuarantine(); err != nil {
		return err
	}
	rows := env.Stream([]string{"TOPIC", "PARTITION", "RECORDS-BEFORE", "RECORDS-AFTER", "BYTES-BEFORE", "BYTES-AFTER"})
	var failed []error
	for _, ref := range refs {
		done, err := o.compactOne(ctx, c, r, ref)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		if err := rows.Row(ref.Topic, ref.Partition, done.RecordsBefore, done.RecordsAfter, done.BytesBefore, done.BytesAfter); err != nil {
			return err
		}
	}
	return errors.Join(append(failed, leaderless, rows.Close())...)
}

func (o *compactOptions) compactOne(ctx context.Context, c *cluster.Cluster, r *repair, ref store.PartitionRef) (*cleaner.Result, error) {
	p := cleaner.Replica{Cluster: c, TopicPartition: ref.TopicPartition, Broker: ref.Broker, DryRun: o.dryRun}
	if o.given("delete-retention-ms") {
		p.DeleteRetentionMs = &o.deleteRetentionMs
	}
	return p.Compact(ctx, func(done *cleaner.Result) error { return swapSegments(ctx, r, ref, done) })
}

// swapSegments puts what a compaction wrote in the place of the old segments, which go to
// the quarantine first.
func swapSegments(ctx context.Context, r *repair, ref store.PartitionRef, done *cleaner.Result) error {
	place := r.placeOf(ref)
	changes, err := swapChanges(r.env.FS, place.logDir, ref.TopicPartition, done)
	if err != nil {
		return errors.Join(err, done.Discard())
	}
	ids, err := r.execute(ctx, add(nil, place, changes), done.Promote)
	if err != nil && ids[0] == "" { // nothing was changed
		return errors.Join(err, done.Discard())
	}
	return err
}

// swapChanges are the steps of a swap as changes that can be undone, with the cleaner's
// checkpoint behind them.
func swapChanges(fsys vfs.ReadFS, logDir string, tp store.TopicPartition, done *cleaner.Result) ([]recovery.Change, error) {
	var changes []recovery.Change
	for _, m := range done.Moves() {
		c, err := swapChange(fsys, m)
		if err != nil {
			return nil, err
		}
		if c.Kind != "" {
			changes = append(changes, c)
		}
	}
	name := filepath.Join(logDir, checkpoint.CleanerFile)
	points, err := checkpoint.ReadOffsets(fsys, name)
	if err != nil {
		return nil, err
	}
	if at, ok := points.Get(tp.Topic, tp.Partition); ok && at == done.FirstDirty {
		return changes, nil
	}
	points.Set(tp.Topic, tp.Partition, done.FirstDirty)
	points.Sort()
	c, err := recovery.Replace(fsys, name, checkpoint.AppendOffsets(nil, points), "how far compaction came")
	return append(changes, c), err
}

// swapChange is one step; it is empty for a file that is to go and is not there.
func swapChange(fsys vfs.ReadFS, m cleaner.Move) (recovery.Change, error) {
	if m.Cleaned != "" {
		return recovery.MoveIn(fsys, m.Path, m.Cleaned, m.Swap, "compacted")
	}
	there, err := vfs.Exists(fsys, m.Path)
	if err != nil || !there {
		return recovery.Change{}, err
	}
	return recovery.Delete(m.Path, "compacted"), nil
}
