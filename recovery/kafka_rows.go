package recovery

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"logdir/inspect/startup"
	"logdir/store/corrupt"
	"logdir/store/segment"
)

// rows tells what happens to each segment.
func (k *kafkaMaker) rows() error {
	removed := NoLoss()
	var gone int
	for i := len(k.out.Segments) - 1; i >= 0; i-- {
		s := k.out.Segments[i]
		var row *Row
		var err error
		switch {
		case s.Gone():
			row = k.splitRow(s)
		case s.Overwritten:
			row, err = k.overwrittenRow(s)
		case s.Removed && !k.out.Wiped:
			var loss Loss
			loss, err = k.lossOf(s, 0)
			removed.Add(loss)
			gone++
		default:
			row, err = k.segmentRow(s, gone, removed)
			gone, removed = 0, NoLoss()
		}
		if err != nil {
			return err
		}
		if row != nil {
			k.plan.Rows = append([]Row{*row}, k.plan.Rows...)
		}
	}
	k.sweepRows()
	return nil
}

func (k *kafkaMaker) segmentRow(s startup.Segment, gone int, removed Loss) (*Row, error) {
	switch {
	case k.out.Wiped:
		loss, err := k.lossOf(s, 0)
		return k.lossRow(s, "", loss, loss.Bytes, fmt.Sprintf("deleted: its log ends below the log start offset %d", k.plan.Partition.LogStart)), err
	case s.Stays:
		return k.splitRow(s), nil
	case s.Valid == s.OldSize && s.From != nil:
		return nil, nil // the row of the segment that it comes from has told it
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
	path, start := k.stood(s)
	f, err := k.fs.Open(path)
	if err != nil {
		return loss, 0, err
	}
	loss, end, err = countLoss(k.ctx, f, start+from, start+s.OldSize, k.scanOptions(s, from), k.out.BaseBehind(s.Base))
	return loss, end, readProblem(path, errors.Join(err, f.Close()))
}

func (k *kafkaMaker) scanOptions(s startup.Segment, from int64) segment.Options {
	o := segment.Options{Base: s.Base, LogEnd: corrupt.Unknown}
	if from > 0 {
		o.LogEnd = s.Next
	}
	return o
}

// stood is the log on disk that a segment's bytes come from, and the first of them there.
func (k *kafkaMaker) stood(s startup.Segment) (path string, start int64) {
	at := s.Stood()
	for _, f := range k.list.Segments {
		if f.Base == at.Base {
			return k.path(f.Log), at.Pos
		}
	}
	return k.path(segment.FileName(at.Base, segment.LogSuffix+segment.SwapSuffix)), at.Pos
}

// kindAt names the damage at which the broker cuts, in our words.
func (k *kafkaMaker) kindAt(s startup.Segment) (corrupt.Kind, error) {
	path, start := k.stood(s)
	f, err := k.fs.Open(path)
	if err != nil {
		return "", err
	}
	o := k.scanOptions(s, s.Valid)
	o.Start, o.StopAtDamage = start+s.Valid, true
	scan := segment.NewScanner(f, start+s.OldSize, o)
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
