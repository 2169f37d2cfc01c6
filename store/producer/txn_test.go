package producer

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"logdir/store/index"
	"logdir/store/record"
)

// A log with an aborted and a committed transaction that Kafka wrote, with its transaction
// index and its snapshot.
const goldenTxnLog = `
	000000000000000000000043000000000226f4963f0010000000010000018bcfe568000000018bcfe5680100000000000003e800000000000000000002100000000261023100100002020262023200
	000000000000000200000042000000000210bdf1020030000000000000018bcfe568050000018bcfe5680500000000000003e80000ffffffff000000012000000008000000000c00000000000500
	00000000000000030000003900000000022f79198a0010000000000000018bcfe5680a0000018bcfe5680a00000000000003e8000000000002000000010e00000002630100
	0000000000000004000000420000000002d48c09b60030000000000000018bcfe5680f0000018bcfe5680f00000000000003e80000ffffffff000000012000000008000000010c00000000000500`

func TestGoldenTransactions(t *testing.T) {
	s := NewState(0)
	var ended []EndedTxn
	for text := range strings.FieldsSeq(goldenTxnLog) {
		txn, err := s.Update(parse(t, unhex(t, text), nil))
		if err != nil {
			t.Fatal(err)
		}
		if txn != nil {
			ended = append(ended, *txn)
		}
	}
	want := []EndedTxn{
		{AbortedTxn: index.AbortedTxn{ProducerID: 1000, FirstOffset: 0, LastOffset: 2, LastStableOffset: 3}, CoordinatorEpoch: 5, Aborted: true},
		{AbortedTxn: index.AbortedTxn{ProducerID: 1000, FirstOffset: 3, LastOffset: 4, LastStableOffset: 5}, CoordinatorEpoch: 5},
	}
	if diff := cmp.Diff(want, ended); diff != "" {
		t.Error(diff)
	}
	if got := AppendSnapshot(nil, s.Entries()); !bytes.Equal(got, golden(t, goldenSnapshot)) {
		t.Errorf("snapshot %x", got)
	}
	wantIndex := unhex(t, "0000 00000000000003e8 0000000000000000 0000000000000002 0000000000000003")
	if got := index.AppendAbortedTxn(nil, ended[0].AbortedTxn); !bytes.Equal(got, wantIndex) {
		t.Errorf("index %x", got)
	}
}

// Two transactions at once: what is stable, and what the transaction index says of it.
func TestLastStableOffset(t *testing.T) {
	s := NewState(0)
	s.SetHighWatermark(0)
	feed(t, s, batch{pid: 1, sequence: 0, records: 5, offset: 0, transaction: true})
	feed(t, s, batch{pid: 2, sequence: 0, records: 5, offset: 5, transaction: true})
	feed(t, s, batch{pid: -1, epoch: -1, sequence: -1, records: 5, offset: 10})
	stable := func(name string, highWatermark, want int64) {
		t.Helper()
		if got := s.LastStable(highWatermark); got != want {
			t.Errorf("%s: last stable offset %d at high watermark %d, want %d", name, got, highWatermark, want)
		}
	}
	stable("both open", 15, 0)
	first, err := s.Update(marker(t, record.Abort, 1, 0, 7, 15))
	if err != nil || first == nil || first.LastStableOffset != 5 || !first.Aborted {
		t.Fatalf("%+v, %v: while another is open, its first offset is stable", first, err)
	}
	stable("the marker is not replicated", 15, 0)
	stable("the second is open", 16, 5)
	if diff := cmp.Diff([]OpenTxn{{ProducerID: 2, FirstOffset: 5}}, s.Open()); diff != "" {
		t.Error(diff)
	}
	second, err := s.Update(marker(t, record.Commit, 2, 0, 7, 16))
	if err != nil || second == nil || second.LastStableOffset != 17 || second.Aborted {
		t.Fatalf("%+v, %v", second, err)
	}
	stable("its marker is not replicated", 16, 5)
	stable("all is stable", 17, 17)
	s.SetHighWatermark(17)
	stable("markers below the high watermark are forgotten", 3, 3)
	if len(s.ended) != 0 || len(s.Open()) != 0 {
		t.Errorf("left: %v, %v", s.ended, s.Open())
	}
}

// A state that is not told of a high watermark does not collect ended transactions.
func TestEndedTransactionsAreForgotten(t *testing.T) {
	s := NewState(0)
	for i := range int64(100) {
		feed(t, s, batch{pid: 1, sequence: int32(i), offset: 2 * i, transaction: true})
		if _, err := s.Update(marker(t, record.Commit, 1, 0, 0, 2*i+1)); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.ended) != 0 || len(s.open) != 0 {
		t.Errorf("%d ended and %d open are kept", len(s.ended), len(s.open))
	}
}

func TestMarkers(t *testing.T) {
	open := batch{pid: 1, epoch: 5, sequence: 0, offset: 10, transaction: true}
	t.Run("a marker without transaction ends nothing", func(t *testing.T) {
		s := NewState(0)
		txn, err := s.Update(marker(t, record.Abort, 1, 5, 3, 0))
		if txn != nil || err != nil {
			t.Errorf("%v, %v", txn, err)
		}
		want := []Entry{{ProducerID: 1, ProducerEpoch: 5, LastSequence: -1, LastOffset: -1, Timestamp: 1700000000000, CoordinatorEpoch: 3, TxnFirstOffset: -1}}
		if diff := cmp.Diff(want, s.Entries()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("one of a newer epoch clears the window", func(t *testing.T) {
		s := NewState(0)
		feed(t, s, open)
		if _, err := s.Update(marker(t, record.Abort, 1, 6, 3, 11)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Check(batch{pid: 1, epoch: 6, sequence: 1, transaction: true}.view(t)); !errors.Is(err, ErrOutOfOrderSequence) {
			t.Errorf("the next batch may begin at 1: %v", err)
		}
		if _, err := s.Check(batch{pid: 1, epoch: 6, sequence: 0, transaction: true}.view(t)); err != nil {
			t.Errorf("the next batch may not begin at 0: %v", err)
		}
	})
	t.Run("an older epoch or coordinator is fenced", func(t *testing.T) {
		s := NewState(0)
		feed(t, s, open)
		if _, err := s.Check(marker(t, record.Commit, 1, 4, 3, 11)); !errors.Is(err, ErrInvalidProducerEpoch) {
			t.Error(err)
		}
		if _, err := s.Update(marker(t, record.Commit, 1, 5, 3, 11)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Check(marker(t, record.Commit, 1, 5, 2, 12)); !errors.Is(err, ErrCoordinatorFenced) {
			t.Error(err)
		}
		if _, err := s.Check(marker(t, record.Commit, 1, 5, 3, 12)); err != nil {
			t.Error(err)
		}
		if _, err := s.Check(marker(t, record.Commit, 77, 0, 0, 12)); err != nil {
			t.Errorf("of an unknown producer: %v", err)
		}
	})
	t.Run("a batch outside the open transaction", func(t *testing.T) {
		s := NewState(0)
		feed(t, s, open)
		plain := batch{pid: 1, epoch: 5, sequence: 1, offset: 11}
		if _, err := s.Check(plain.view(t)); !errors.Is(err, ErrInvalidTxnState) {
			t.Error(err)
		}
		before := s.Entries()
		if _, err := s.Update(plain.view(t)); !errors.Is(err, ErrInvalidTxnState) {
			t.Error(err)
		}
		if diff := cmp.Diff(before, s.Entries()); diff != "" {
			t.Errorf("the refused batch changed the state: %s", diff)
		}
	})
}

// control builds a control batch with any record, or none.
func control(t testing.TB, records int, key, value []byte) *record.Batch {
	t.Helper()
	m := record.NoProducer()
	m.ProducerID, m.ProducerEpoch, m.Transactional, m.Control = 1, 0, true, true
	b := record.NewBuilder()
	b.Reset(m)
	if records == 0 {
		return parse(t, b.BuildEmpty(nil, 5), nil)
	}
	b.Append(&record.Record{Key: key, Value: value})
	raw, err := b.Build(nil)
	return parse(t, raw, err)
}

// What a broker's recovery tells apart in control batches.
func TestMalformedMarkers(t *testing.T) {
	good := []byte{0, 0, 0, 0, 0, 5}
	for _, c := range []struct {
		name  string
		batch *record.Batch
		want  error
	}{
		{"emptied by compaction", control(t, 0, nil, nil), nil},
		{"newer versions", control(t, 1, []byte{0, 9, 0, 1, 99}, append([]byte{0, 9}, good[2:]...)), nil},
		{"no key", control(t, 1, nil, good), ErrControlType},
		{"no value", control(t, 1, []byte{0, 0, 0, 0}, nil), ErrControlType},
		{"unknown type", control(t, 1, []byte{0, 0, 0, 9}, good), ErrControlType},
		{"a type that is no marker", control(t, 1, []byte{0, 0, 0, 2}, good), ErrControlType},
		{"short key", control(t, 1, []byte{0, 0, 0}, good), ErrBadMarker},
		{"negative key version", control(t, 1, []byte{0xff, 0xff, 0, 0}, good), ErrBadMarker},
		{"short value", control(t, 1, []byte{0, 0, 0, 0}, good[:5]), ErrBadMarker},
		{"negative value version", control(t, 1, []byte{0, 0, 0, 0}, append([]byte{0x80, 0}, good[2:]...)), ErrBadMarker},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := NewState(0)
			_, err := s.Update(c.batch)
			if !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			if c.want != nil && s.Len() != 0 {
				t.Errorf("a refused marker left %v", s.Entries())
			}
		})
	}
}

// Transactions that claim to begin at the same offset, as a damaged log may say.
func TestTransactionWasNotStarted(t *testing.T) {
	s := NewState(0)
	feed(t, s, batch{pid: 1, sequence: 0, offset: 10, transaction: true}, batch{pid: 2, sequence: 0, offset: 10, transaction: true})
	if _, err := s.Update(marker(t, record.Abort, 1, 0, 0, 11)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Update(marker(t, record.Abort, 2, 0, 0, 12)); !errors.Is(err, ErrTxnNotStarted) {
		t.Errorf("%v", err)
	}
}
