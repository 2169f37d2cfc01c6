package cleaner_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"logdir/store"
	"logdir/store/cleaner"
	"logdir/store/record"
	"logdir/store/vfs/memfs"
)

// moment is the time at which these tests begin: 2026-01-01.
const moment int64 = 1767225600000

const dir = "logs/t-0"

// fataler is what tests and properties have in common.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// lab is one log in memory, with a clock that only the test moves.
type lab struct {
	t          fataler
	fs         *memfs.FS
	now        int64
	firstDirty int64
	sequences  map[int64]int32
}

func newLab(t fataler) *lab {
	l := &lab{t: t, fs: memfs.New(), now: moment, sequences: map[int64]int32{}}
	if err := errors.Join(l.fs.MkdirAll(dir), l.fs.SyncDir(filepath.Dir(dir)), l.fs.SyncDir(".")); err != nil {
		t.Fatal(err)
	}
	return l
}

// do opens the log for something.
func (l *lab) do(change func(*store.Log) error) {
	l.t.Helper()
	log, err := store.OpenLog(l.fs, dir, store.Config{
		SegmentBytes: 300, IndexInterval: 1, Now: func() time.Time { return time.UnixMilli(l.now) },
	})
	if err != nil {
		l.t.Fatal(err)
	}
	if err := errors.Join(change(log), log.Close()); err != nil {
		l.t.Fatal(err)
	}
}

// plain is a batch of no producer.
func plain() record.Meta { return record.NoProducer() }

// sent is the next batch of a producer with n records.
func (l *lab) sent(producer int64, n int, transactional bool) record.Meta {
	m := record.NoProducer()
	m.ProducerID, m.ProducerEpoch, m.BaseSequence, m.Transactional = producer, 0, l.sequences[producer], transactional
	l.sequences[producer] += int32(n)
	return m
}

// append appends a batch of "key=value" records; "key" alone is a tombstone, "=value" has no
// key.
func (l *lab) append(m record.Meta, texts ...string) {
	l.t.Helper()
	b := record.NewBuilder()
	b.Reset(m)
	for i, text := range texts {
		r := record.Record{Offset: int64(i), Timestamp: l.now}
		key, value, hasValue := strings.Cut(text, "=")
		if key != "" {
			r.Key = []byte(key)
		}
		if hasValue {
			r.Value = []byte(value)
		}
		b.Append(&r)
	}
	frame, err := b.Build(nil)
	if err != nil {
		l.t.Fatal(err)
	}
	l.write(frame)
}

// end appends a producer's marker.
func (l *lab) end(producer int64, kind record.ControlType) {
	l.t.Helper()
	m := record.NoProducer()
	m.ProducerID, m.ProducerEpoch = producer, 0
	frame, err := record.AppendEndTxnMarker(nil, m, record.EndTxnMarker{Type: kind}, l.now)
	if err != nil {
		l.t.Fatal(err)
	}
	l.write(frame)
}

func (l *lab) write(frame []byte) {
	l.t.Helper()
	l.do(func(log *store.Log) error {
		_, err := log.Append(frame, 0)
		return err
	})
}

func (l *lab) roll() {
	l.t.Helper()
	l.do(func(log *store.Log) error {
		_, err := log.Roll()
		return err
	})
}

// reader opens the log for reading.
func (l *lab) reader() *store.LogReader {
	l.t.Helper()
	r, err := store.OpenReader(l.fs, dir, store.ReaderOptions{})
	if err != nil {
		l.t.Fatal(err)
	}
	return r
}

func (l *lab) logEnd() int64 {
	l.t.Helper()
	end, damage, err := l.reader().End()
	if err != nil || damage != nil {
		l.t.Fatalf("log end: %v, %v", damage, err)
	}
	return end
}

// options are those of a pass over the log as it is.
func (l *lab) options() cleaner.Options {
	l.t.Helper()
	return cleaner.Options{
		HighWatermark: l.logEnd(), FirstDirty: l.firstDirty, DeleteRetentionMs: 1000,
		SegmentBytes: 300, IndexInterval: 1, Now: l.now,
	}
}

// compact makes a pass and puts the result in place.
func (l *lab) compact() *cleaner.Result {
	l.t.Helper()
	return l.compactWith(l.options())
}

func (l *lab) compactWith(o cleaner.Options) *cleaner.Result {
	l.t.Helper()
	r, err := cleaner.Clean(context(l.t), l.fs, l.reader(), o)
	if err != nil {
		l.t.Fatal(err)
	}
	if r.Changed {
		if same, err := r.Unchanged(); !same || err != nil {
			l.t.Fatalf("unchanged: %t, %v", same, err)
		}
		if err := r.Install(); err != nil {
			l.t.Fatal(err)
		}
	}
	l.firstDirty = r.FirstDirty
	return r
}

// batches draws the log: a line for each batch, "0..2 p7 txn: 1 a=1, 2 b".
func (l *lab) batches() string {
	l.t.Helper()
	var out strings.Builder
	c := l.reader().From(0)
	defer c.Close()
	records := record.NewReader()
	for c.Next() {
		if d := c.Damage(); d != nil {
			l.t.Fatal(d)
		}
		b := c.Batch()
		fmt.Fprintf(&out, "%d..%d", b.BaseOffset(), b.LastOffset())
		if b.ProducerID() >= 0 {
			fmt.Fprintf(&out, " p%d", b.ProducerID())
		}
		if horizon, ok := b.DeleteHorizon(); ok {
			fmt.Fprintf(&out, " until +%d", horizon-moment)
		}
		if b.IsControl() {
			fmt.Fprint(&out, " marker")
		}
		separator := ": "
		for records.Reset(b); records.Next(); separator = ", " {
			out.WriteString(separator + text(records.Record(), b.IsControl()))
		}
		if err := records.Err(); err != nil {
			l.t.Fatal(err)
		}
		out.WriteByte('\n')
	}
	if c.Err() != nil {
		l.t.Fatal(c.Err())
	}
	return out.String()
}

func text(r *record.Record, control bool) string {
	if control {
		marker, err := record.ParseEndTxnMarker(r)
		if err != nil {
			return err.Error()
		}
		return marker.Type.String()
	}
	if r.Value == nil {
		return fmt.Sprintf("%d %s", r.Offset, r.Key)
	}
	return fmt.Sprintf("%d %s=%s", r.Offset, r.Key, r.Value)
}
