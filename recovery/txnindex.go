package recovery

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"

	"logdir/store/corrupt"
	"logdir/store/index"
	"logdir/store/segment"
)

// txnIndexes plans the transaction indexes, as far as the log tells them for sure.
func (m *maker) txnIndexes() error {
	for _, g := range m.after.segments {
		if err := m.txnIndex(g); err != nil {
			return err
		}
	}
	return nil
}

func (m *maker) txnIndex(g *segmentSurvey) error {
	if g.mkb1 {
		return nil
	}
	want, err := m.wantedTxns(g)
	if err != nil || g.TxnIndex == "" && len(want) == 0 {
		return err
	}
	var data []byte
	for _, t := range want {
		data = index.AppendAbortedTxn(data, t)
	}
	path := g.path(m.dir, segment.TxnIndexSuffix)
	if g.TxnIndex != "" {
		same, err := holds(m.fs, path, data)
		if err != nil || same {
			return err
		}
	}
	c, err := Replace(m.fs, path, data, string(corrupt.BadTxnIndex))
	if err != nil {
		return err
	}
	c.Action = "rebuilt"
	m.plan.Changes = append(m.plan.Changes, c)
	if len(m.edits[g.Base]) == 0 {
		m.plan.Rows = append(m.plan.Rows, m.plan.row(g.Base, corrupt.BadTxnIndex, g.next, "rebuilt transaction index"))
	}
	return nil
}

// wantedTxns are the aborted transactions that end in the segment. Of a log whose beginning
// is gone the file may know more than the batches: it keeps that, and gets what it lacks.
func (m *maker) wantedTxns(g *segmentSurvey) ([]index.AbortedTxn, error) {
	if m.after.complete || g.TxnIndex == "" {
		return g.aborted, nil
	}
	want, err := m.readTxns(g)
	if err != nil {
		return nil, err
	}
	want = slices.DeleteFunc(want, func(t index.AbortedTxn) bool { return t.LastOffset >= g.next })
	for _, t := range g.aborted {
		at, found := slices.BinarySearchFunc(want, t, func(a, b index.AbortedTxn) int { return cmp.Compare(a.LastOffset, b.LastOffset) })
		if !found {
			want = slices.Insert(want, at, t)
		} else if have := want[at]; have.ProducerID != t.ProducerID || have.FirstOffset > t.FirstOffset {
			want[at] = t
		}
	}
	return want, nil
}

// readTxns reads a segment's transaction index; a damaged one holds nothing.
func (m *maker) readTxns(g *segmentSurvey) ([]index.AbortedTxn, error) {
	f, err := m.fs.Open(filepath.Join(m.dir, g.TxnIndex))
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	x := index.NewTxnIndex(f, info.Size(), g.Base)
	if err := x.Check(); err != nil {
		if _, bad := errors.AsType[*corrupt.Error](err); bad {
			err = nil
		}
		return nil, errors.Join(err, f.Close())
	}
	var out []index.AbortedTxn
	for t, err := range x.All() {
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		out = append(out, t)
	}
	return out, f.Close()
}
