package recovery

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"logdir/inspect/startup"
	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/corrupt"
	"logdir/store/producer"
	"logdir/store/segment"
	"logdir/store/vfs"
)

// kafkaMaker plans what a broker would do.
type kafkaMaker struct {
	ctx  context.Context
	fs   vfs.ReadFS
	o    Options
	plan *Plan
	out  *startup.Outcome
	list segment.Listing
}

// StartOptions are what a broker that starts knows of a partition. Without
// fromRecoveryPoint it looks at every segment, as after losing marker and checkpoints.
func (p *Partition) StartOptions(interval int, fromRecoveryPoint bool) startup.Options {
	o := startup.Options{LogStart: max(p.LogStart, 0), IndexInterval: interval, Deleting: p.State == segment.Delete}
	if fromRecoveryPoint {
		o.Clean, o.RecoveryPoint = p.LogDir.Clean, max(p.RecoveryPoint, 0)
	}
	return o
}

func makeKafka(ctx context.Context, fsys vfs.ReadFS, p Partition, o Options) (*Plan, error) {
	k := &kafkaMaker{ctx: ctx, fs: fsys, o: o, plan: &Plan{Partition: p, Lost: NoLoss()}}
	var err error
	if k.list, err = segment.List(fsys, p.Dir); err != nil {
		return nil, err
	}
	if err := k.refuseMKB1(); err != nil {
		return nil, err
	}
	if k.out, err = startup.Load(fsys, p.Dir, p.StartOptions(o.IndexInterval, o.FromRecoveryPoint)); err != nil {
		return nil, err
	}
	k.plan.LogStart, k.plan.LogEnd = k.out.LogStart, k.out.LogEnd
	if k.out.Failure != nil {
		k.plan.Left = append(k.plan.Left, store.Errorf(store.Damage, "", "%s: a broker would not start: %w; nothing was changed there", p.TopicPartition, k.out.Failure).
			WithHint("logdir recover --dry-run --policy skip %s", p.target()))
		return k.plan, nil
	}
	k.plan.HasLog = true
	k.passingSnapshots()
	if err := k.changes(); err != nil {
		return nil, err
	}
	return k.plan, k.rows()
}

// changes turns the outcome into changes, in an order that the same command finishes after
// a crash: what stands behind a cut goes first, the newest first; the parts of a split come
// before what they are taken from is cut or goes; then logs are cut; then the derived files
// come.
func (k *kafkaMaker) changes() error {
	onDisk, err := k.fs.ReadDir(k.plan.Partition.Dir)
	if err != nil {
		return err
	}
	names := k.newNames()
	var removed []Change
	for _, e := range slices.Backward(onDisk) {
		name := e.Name()
		switch to := names.of(name); {
		case e.IsDir() || to == name:
		case to != "":
			k.plan.First = append(k.plan.First, Change{Kind: Rename, Path: k.path(name), To: k.path(to), Action: "moved to " + to})
		case k.goes(name):
			removed = append(removed, Delete(k.path(name), "a broker deletes it"))
		}
	}
	if len(k.plan.First) > 0 {
		// Renames take the place of files that go. The log is renamed first: what is still
		// missing then is finished by the next start.
		slices.SortStableFunc(k.plan.First, func(a, b Change) int { return logFirst(a.To) - logFirst(b.To) })
		k.plan.First = append(removed, k.plan.First...)
		return nil
	}
	return k.inTurn(logsFirst(removed))
}

// goes says that a file on disk is removed, or makes place for one that is renamed.
func (k *kafkaMaker) goes(name string) bool {
	f := k.out.Files[name]
	return f == nil || f.Origin != "" && !isPart(f)
}

// inTurn orders the changes that are not renames.
func (k *kafkaMaker) inTurn(removed []Change) error {
	early, late := k.untilSplit(removed)
	k.plan.Changes = early
	parts, err := k.parts()
	if err != nil {
		return err
	}
	k.plan.Changes = append(k.plan.Changes, late...)
	return k.written(parts)
}

// passingSnapshots drops the snapshots that a broker leaves at one start and deletes at the
// next: they would give a second run work. They lie at the log start, beyond the log end, or
// at no segment's base while there is a newer one like that (Kafka: removeStraySnapshots).
func (k *kafkaMaker) passingSnapshots() {
	stray := ""
	for _, name := range slices.Sorted(maps.Keys(k.out.Files)) {
		base, suffix, _ := segment.ParseName(name)
		switch {
		case suffix != segment.SnapshotSuffix:
		case base <= k.out.LogStart || base > k.out.LogEnd:
			delete(k.out.Files, name)
		case k.out.Files[segment.FileName(base, segment.LogSuffix)] == nil:
			delete(k.out.Files, stray)
			stray = name
		}
	}
}

func logFirst(path string) int {
	if strings.HasSuffix(path, segment.LogSuffix) {
		return 0
	}
	return 1
}

// logsFirst orders removals: logs before the files that go with them.
func logsFirst(changes []Change) []Change {
	slices.SortStableFunc(changes, func(a, b Change) int { return logFirst(a.Path) - logFirst(b.Path) })
	return changes
}

func (k *kafkaMaker) path(name string) string { return filepath.Join(k.plan.Partition.Dir, name) }

// turn is the place of a file in the order of writing: logs first, index files last. A
// missing index makes a broker recover its segment out of turn, so the epochs, which depend
// on the order in which batches are met, must stand before any index does.
func turn(name string) int {
	switch {
	case strings.HasSuffix(name, segment.LogSuffix):
		return 0
	case name == checkpoint.EpochFile:
		return 1
	case strings.HasSuffix(name, segment.IndexSuffix):
		return 3
	}
	return 2
}

// written plans the files that are cut or written, in their turn, but for those that are
// planned already.
func (k *kafkaMaker) written(planned []string) error {
	names := slices.Sorted(maps.Keys(k.out.Files))
	slices.SortStableFunc(names, func(a, b string) int { return turn(a) - turn(b) })
	for _, name := range names {
		if slices.Contains(planned, name) {
			continue
		}
		if err := k.add(k.out.Files[name]); err != nil {
			return err
		}
	}
	return nil
}

// add plans what is written of a file, if anything is.
func (k *kafkaMaker) add(f *startup.File) error {
	c, err := k.write(f)
	if c != nil && err == nil {
		k.plan.Changes = append(k.plan.Changes, *c)
	}
	return err
}

func (k *kafkaMaker) write(f *startup.File) (*Change, error) {
	path := k.path(f.Name)
	if isPart(f) {
		c, err := CopyOut(k.fs, path, Extract{Path: k.path(f.Origin), Pos: f.Start, Size: f.Size}, "split by a broker")
		return &c, err
	}
	if f.Origin != "" {
		size, err := vfs.Size(k.fs, path)
		if err != nil || size == f.Size {
			return nil, err
		}
		c := Truncate(path, f.Size, size, "cut by a broker's recovery")
		c.Action = fmt.Sprintf("truncated to %d bytes", f.Size)
		return &c, nil
	}
	data := f.Data
	if data == nil {
		data = make([]byte, f.Size)
	}
	there, err := vfs.Exists(k.fs, path)
	if err != nil {
		return nil, err
	}
	if there {
		same, err := k.same(f.Name, data)
		if err != nil || same {
			return nil, err
		}
	}
	c, err := Replace(k.fs, path, data, "derived from the log")
	return &c, err
}

// same compares a file with what it should hold. Snapshots and epochs are compared by
// meaning: Kafka writes producers in the order of a hash table.
func (k *kafkaMaker) same(name string, data []byte) (bool, error) {
	path := k.path(name)
	size, err := vfs.Size(k.fs, path)
	if err != nil {
		return false, err
	}
	switch {
	case strings.HasSuffix(name, producer.Suffix):
		have, err := producer.ReadSnapshot(k.fs, path)
		if _, bad := errors.AsType[*corrupt.Error](err); bad {
			return false, nil
		}
		want, perr := producer.ParseSnapshot(data)
		return err == nil && sameEntries(have, want), errors.Join(err, perr)
	case name == checkpoint.EpochFile:
		have, err := checkpoint.ReadEpochs(k.fs, path)
		want, perr := checkpoint.ParseEpochs(data)
		return err == nil && slices.Equal(have, want), perr
	case size != int64(len(data)):
		return false, nil
	}
	have, err := vfs.ReadAll(k.fs, path, size)
	return bytes.Equal(have, data), err
}
