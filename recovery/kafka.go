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
// a crash: what stands behind a cut goes first, the newest first; then logs are cut; then
// the derived files come.
func (k *kafkaMaker) changes() error {
	onDisk, err := k.fs.ReadDir(k.plan.Partition.Dir)
	if err != nil {
		return err
	}
	used := map[string]string{} // file on disk: name that the broker leaves its bytes under
	for _, f := range k.out.Files {
		if f.Origin != "" {
			used[f.Origin] = f.Name
		}
	}
	var removed []Change
	for _, e := range slices.Backward(onDisk) {
		name := e.Name()
		f := k.out.Files[name]
		switch {
		case e.IsDir() || used[name] == name:
		case used[name] != "":
			k.plan.First = append(k.plan.First, Change{Kind: Rename, Path: k.path(name), To: k.path(used[name]), Action: "moved to " + used[name]})
		case f == nil || f.Origin != "":
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
	k.plan.Changes = logsFirst(removed)
	return k.written()
}

// passingSnapshots drops the snapshots that a broker writes at one start and deletes at the
// next, because they lie at the log start or beyond the log end: they would give a second
// run work.
func (k *kafkaMaker) passingSnapshots() {
	for name := range k.out.Files {
		base, suffix, _ := segment.ParseName(name)
		if suffix == segment.SnapshotSuffix && (base <= k.out.LogStart || base > k.out.LogEnd) {
			delete(k.out.Files, name)
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

// written plans the files that are cut or written, in their turn.
func (k *kafkaMaker) written() error {
	names := slices.Sorted(maps.Keys(k.out.Files))
	slices.SortStableFunc(names, func(a, b string) int { return turn(a) - turn(b) })
	for _, name := range names {
		c, err := k.write(k.out.Files[name])
		if err != nil {
			return err
		}
		if c != nil {
			k.plan.Changes = append(k.plan.Changes, *c)
		}
	}
	return nil
}

func (k *kafkaMaker) write(f *startup.File) (*Change, error) {
	path := k.path(f.Name)
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

// rows tells what happens to each segment.
func (k *kafkaMaker) rows() error {
	removed := NoLoss()
	var gone int
	for i := len(k.out.Segments) - 1; i >= 0; i-- {
		s := k.out.Segments[i]
		if s.Removed && !k.out.Wiped {
			loss, err := k.lossOf(s, 0)
			if err != nil {
				return err
			}
			removed.Add(loss)
			gone++
			continue
		}
		row, err := k.segmentRow(s, gone, removed)
		if err != nil {
			return err
		}
		if row != nil {
			k.plan.Rows = append([]Row{*row}, k.plan.Rows...)
		}
		gone, removed = 0, NoLoss()
	}
	k.sweepRows()
	return nil
}

func (k *kafkaMaker) segmentRow(s startup.Segment, gone int, removed Loss) (*Row, error) {
	switch {
	case k.out.Wiped:
		loss, err := k.lossOf(s, 0)
		return k.lossRow(s, "", loss, loss.Bytes, fmt.Sprintf("deleted: its log ends below the log start offset %d", k.plan.Partition.LogStart)), err
	case s.Valid == s.OldSize:
		return k.indexRow(s)
	}
	loss, err := k.lossOf(s, s.Valid)
	if err != nil {
		return nil, err
	}
	kind, err := k.kindAt(s)
	if err != nil {
		return nil, err
	}
	action := fmt.Sprintf("truncated to %d bytes", s.Valid)
	if s.Emptied {
		action = fmt.Sprintf("emptied (%s)", s.Why)
	}
	if gone > 0 {
		action += fmt.Sprintf(", deleted %d later segment(s)", gone)
	}
	own := loss.Bytes
	loss.Add(removed)
	return k.lossRow(s, kind, loss, own, action), nil
}

func (k *kafkaMaker) lossRow(s startup.Segment, kind corrupt.Kind, loss Loss, bytes int64, action string) *Row {
	k.plan.Lost.Add(loss)
	row := k.plan.row(s.Base, kind, s.Next, "%s", action)
	row.LostBytes, row.LostRecords = bytes, loss.Records
	return &row
}

// indexRow is for a segment whose log stays and whose index files are made anew.
func (k *kafkaMaker) indexRow(s startup.Segment) (*Row, error) {
	missing := !slices.ContainsFunc(k.list.Segments, func(f segment.Files) bool { return f.Base == s.Base && f.Index != "" && f.TimeIndex != "" })
	var words []string
	for _, w := range []struct{ suffix, name string }{{segment.IndexSuffix, "index"}, {segment.TimeIndexSuffix, "time index"}} {
		path := k.path(segment.FileName(s.Base, w.suffix))
		if slices.ContainsFunc(k.plan.Changes, func(c Change) bool { return c.Path == path && c.Kind != Remove }) {
			words = append(words, w.name)
		}
	}
	if len(words) == 0 {
		return nil, nil
	}
	kind := corrupt.BadIndex
	if missing {
		kind = corrupt.MissingIndex
	}
	end, err := k.endOf(s)
	row := k.plan.row(s.Base, kind, end, "rebuilt %s", strings.Join(words, " and "))
	return &row, err
}

// endOf is the log end behind a segment.
func (k *kafkaMaker) endOf(s startup.Segment) (int64, error) {
	if s.Recovered {
		return s.Next, nil
	}
	_, end, err := k.scan(s, 0)
	return end, err
}

// lossOf counts what the segment's bytes from position from on hold.
func (k *kafkaMaker) lossOf(s startup.Segment, from int64) (Loss, error) {
	loss, _, err := k.scan(s, from)
	return loss, err
}

func (k *kafkaMaker) scan(s startup.Segment, from int64) (loss Loss, end int64, err error) {
	path := k.logPath(s)
	f, err := k.fs.Open(path)
	if err != nil {
		return loss, 0, err
	}
	loss, end, err = countLoss(k.ctx, f, from, s.OldSize, k.scanOptions(s, from))
	return loss, end, readProblem(path, errors.Join(err, f.Close()))
}

func (k *kafkaMaker) scanOptions(s startup.Segment, from int64) segment.Options {
	o := segment.Options{Base: s.Base, LogEnd: corrupt.Unknown}
	if from > 0 {
		o.LogEnd = s.Next
	}
	return o
}

// logPath is the log on disk that a segment's bytes come from.
func (k *kafkaMaker) logPath(s startup.Segment) string {
	for _, f := range k.list.Segments {
		if f.Base == s.Base {
			return k.path(f.Log)
		}
	}
	return k.path(segment.FileName(s.Base, segment.LogSuffix+segment.SwapSuffix))
}

// kindAt names the damage at which the broker cuts, in our words.
func (k *kafkaMaker) kindAt(s startup.Segment) (corrupt.Kind, error) {
	path := k.logPath(s)
	f, err := k.fs.Open(path)
	if err != nil {
		return "", err
	}
	o := k.scanOptions(s, s.Valid)
	o.Start, o.StopAtDamage = s.Valid, true
	scan := segment.NewScanner(f, s.OldSize, o)
	kind := corrupt.BadOffset // a batch that is good by itself, and cannot be indexed
	if scan.Next() && scan.Damage() != nil {
		kind = scan.Damage().Kind
	}
	return kind, readProblem(path, errors.Join(scan.Err(), f.Close()))
}

// sweepRows tells of files that go or come beside the segments.
func (k *kafkaMaker) sweepRows() {
	for _, c := range slices.Concat(k.plan.First, k.plan.Changes) {
		name := filepath.Base(c.Path)
		base, suffix, _ := segment.ParseName(name)
		switch {
		case c.Kind == Rename:
			k.plan.Rows = append(k.plan.Rows, k.plan.row(base, "", k.out.LogEnd, "moved %s to %s", name, filepath.Base(c.To)))
		case c.Kind == Remove && isLeftover(suffix):
			k.plan.Rows = append(k.plan.Rows, k.plan.row(base, "", k.out.LogEnd, "removed leftover %s", name))
		case c.Kind == Remove && k.isOrphan(name):
			k.plan.Rows = append(k.plan.Rows, k.plan.row(base, "", k.out.LogEnd, "removed orphaned %s", name))
		}
	}
	if len(k.plan.Rows) == 0 {
		for _, c := range k.plan.Changes {
			k.plan.Rows = append(k.plan.Rows, k.plan.row(corrupt.Unknown, "", k.out.LogEnd, "%s %s", c.Action, filepath.Base(c.Path)))
		}
	}
}

func isLeftover(suffix string) bool {
	return strings.HasSuffix(suffix, segment.DeletedSuffix) || strings.HasSuffix(suffix, segment.CleanedSuffix) || strings.HasSuffix(suffix, segment.SwapSuffix)
}

func (k *kafkaMaker) isOrphan(name string) bool {
	return slices.ContainsFunc(k.list.Orphans, func(n segment.Name) bool { return n.Name == name })
}
