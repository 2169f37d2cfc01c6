package cmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/flagval"
	"logdir/cmd/internal/render"
	"logdir/recovery"
	"logdir/store"
	"logdir/store/segment"
)

// corruptOptions are the flags of "logdir corrupt-tail".
type corruptOptions struct {
	repairFlags
	mode    string
	bytes   int64
	at      int64
	segment string
	file    string
	count   int
	seed    uint64
}

func newCorruptTailCmd(env *Env) *cobra.Command {
	o := &corruptOptions{mode: string(recovery.DamageTorn), file: "log"}
	c := &cobra.Command{
		Use:   "corrupt-tail TARGET|FILE...",
		Short: "damage a segment on purpose, for lessons and drills",
		Long: `Damage the last segment of a partition, of the leader's replica unless told otherwise. The
same command does the same damage. Each run leaves a receipt: "logdir undo" takes it back.

Modes: torn appends the first part of a valid next frame; cut removes the last bytes; flip
flips the lowest bit of one byte; zero overwrites the last bytes with zeros; garbage appends
random bytes; bitrot flips --count random bits over all logs of the TARGETs.

On anything but a cluster of ours it asks first, or wants --yes.`,
		Example: `  logdir corrupt-tail orders:0
  logdir corrupt-tail orders:0 --mode flip --segment 0
  logdir corrupt-tail --mode bitrot --count 10 --seed 7 orders`,
		Args:        cobra.MinimumNArgs(1),
		Annotations: about("0 1 2 3 5 9", "logdir-undo(1)", "logdir-verify-crc(1)", "logdir-recover(1)"),
		RunE: func(c *cobra.Command, targets []string) error {
			return o.run(c.Context(), env, targets)
		},
	}
	f := c.Flags()
	o.repairFlags.addTo(f)
	f.Var(flagval.Enum(&o.mode, "torn", "cut", "flip", "zero", "garbage", "bitrot"), "mode", "the kind of damage")
	f.Int64Var(&o.bytes, "bytes", 0, "how many bytes (default 30 torn, 7 cut, 16 zero and garbage)")
	f.Int64Var(&o.at, "at", -1, "flip: the `position` of the byte (default the last byte of the last record's value)")
	f.StringVar(&o.segment, "segment", "", "`base` offset of an earlier segment: damage in history")
	f.Var(flagval.Enum(&o.file, "log", "index", "timeindex"), "file", "which file of the segment")
	f.IntVar(&o.count, "count", 1, "bitrot: how many bits")
	f.Uint64Var(&o.seed, "seed", 1, "garbage and bitrot: the `seed` of the random numbers")
	return c
}

func (o *corruptOptions) validate() error {
	mode := recovery.DamageMode(o.mode)
	if o.bytes == 0 {
		o.bytes = mode.DefaultBytes()
	}
	switch {
	case o.bytes < 1:
		return usagef("--bytes must be at least 1")
	case o.count < 1:
		return usagef("--count must be at least 1")
	case o.at >= 0 && mode != recovery.DamageFlip:
		return usagef("--at goes with --mode flip")
	}
	return nil
}

func (o *corruptOptions) run(ctx context.Context, env *Env, targets []string) error {
	if err := o.validate(); err != nil {
		return err
	}
	r, err := env.openRepair(ctx, "corrupt-tail --mode "+o.mode, o.repairFlags, targets, false)
	if err != nil {
		return err
	}
	return errors.Join(o.corrupt(ctx, r), r.Close())
}

func (o *corruptOptions) corrupt(ctx context.Context, r *repair) error {
	if err := r.checkQuarantine(); err != nil {
		return err
	}
	works, rows, err := o.plan(r)
	if err != nil {
		return err
	}
	if !o.dryRun {
		if err := r.confirm("damage " + r.env.Global.DataDir); err != nil {
			return err
		}
		if _, err := r.execute(ctx, works, nil); err != nil {
			return err
		}
	}
	t := render.Table{Columns: []string{"FILE", "MODE", "POSITION", "BYTES", "SIZE"}}
	for _, d := range rows {
		t.Rows = append(t.Rows, []any{o.shown(r, d.Path), string(d.Mode), d.Pos, d.Bytes, d.Size})
	}
	return r.env.Print(t)
}

func (o *corruptOptions) plan(r *repair) ([]work, []recovery.Damaged, error) {
	if o.mode == string(recovery.DamageBitrot) {
		return o.planRot(r)
	}
	var works []work
	var rows []recovery.Damaged
	for _, ref := range r.refs {
		path, base, err := o.fileOf(r, ref)
		if err != nil {
			return nil, nil, err
		}
		c, d, err := recovery.Break(r.env.FS, path, base, recovery.DamageOptions{
			Mode: recovery.DamageMode(o.mode), Bytes: o.bytes, At: o.at, Seed: o.seed,
		})
		if err != nil {
			return nil, nil, err
		}
		works = add(works, r.placeOf(ref), []recovery.Change{c})
		rows = append(rows, d)
	}
	return works, rows, nil
}

// planRot spreads flipped bits over all logs of the targets.
func (o *corruptOptions) planRot(r *repair) ([]work, []recovery.Damaged, error) {
	var paths []string
	places := map[string]location{}
	for _, ref := range r.refs {
		list, err := segment.List(r.env.FS, ref.Dir)
		if err != nil {
			return nil, nil, err
		}
		for _, f := range list.Segments {
			if ref.File != "" && ref.File != f.Log {
				continue
			}
			path := filepath.Join(ref.Dir, f.Log)
			paths = append(paths, path)
			places[path] = r.placeOf(ref)
		}
	}
	changes, rows, err := recovery.Rot(r.env.FS, paths, o.count, o.seed)
	var works []work
	for _, c := range changes {
		works = add(works, places[c.Path], []recovery.Change{c})
	}
	return works, rows, err
}

// fileOf chooses the file of a replica to damage: the one that was named, or the one of
// the last segment, or of the one that --segment names.
func (o *corruptOptions) fileOf(r *repair, ref store.PartitionRef) (path string, base int64, err error) {
	if ref.File != "" {
		base, _, _ := segment.ParseName(ref.File)
		return filepath.Join(ref.Dir, ref.File), base, nil
	}
	list, err := segment.List(r.env.FS, ref.Dir)
	if err != nil {
		return "", 0, err
	}
	if len(list.Segments) == 0 {
		return "", 0, store.Errorf(store.NotFound, "", "%s has no segment", ref.TopicPartition)
	}
	f := list.Segments[len(list.Segments)-1]
	if o.segment != "" {
		if f, err = o.named(list, ref); err != nil {
			return "", 0, err
		}
	}
	name := map[string]string{"log": f.Log, "index": f.Index, "timeindex": f.TimeIndex}[o.file]
	if name == "" {
		return "", 0, store.Errorf(store.NotFound, "", "%s: segment %020d has no %s", ref.TopicPartition, f.Base, o.file)
	}
	return filepath.Join(ref.Dir, name), f.Base, nil
}

func (o *corruptOptions) named(list segment.Listing, ref store.PartitionRef) (segment.Files, error) {
	base, err := strconv.ParseInt(o.segment, 10, 64)
	if err != nil {
		return segment.Files{}, usagef("--segment %q: want a base offset", o.segment)
	}
	at := slices.IndexFunc(list.Segments, func(f segment.Files) bool { return f.Base == base })
	if at < 0 {
		return segment.Files{}, store.Errorf(store.NotFound, "", "%s has no segment %s", ref.TopicPartition, segment.FileName(base, "")).
			WithHint("logdir segments %s", ref.TopicPartition)
	}
	return list.Segments[at], nil
}

// shown is a file as its replica shows it.
func (o *corruptOptions) shown(r *repair, path string) string {
	for _, ref := range r.refs {
		if filepath.Clean(ref.Dir) == filepath.Dir(path) {
			return ref.Show(filepath.Base(path))
		}
	}
	return fmt.Sprint(path)
}
