package inspect

import (
	"strings"
	"testing"

	"logdir/fixtures/recoverycorpus"
	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/segment"
	"logdir/store/vfs"
	"logdir/store/vfs/memfs"
)

// TestForecastCorpus foretells all 260 recorded starts of Apache Kafka 4.4: whether the
// broker starts, and where the log then ends.
func TestForecastCorpus(t *testing.T) {
	corpus := recoverycorpus.Load(t)
	for _, c := range corpus.Cases {
		fsys := memfs.New()
		corpus.Write(t, fsys, "d/foo-0", c)
		if c.Clean {
			noError(t, checkpoint.WriteCleanShutdown(fsys, "d", -1))
		}
		noError(t, checkpoint.WriteOffsets(fsys, "d/"+checkpoint.RecoveryPointFile, checkpoint.Offsets{{Topic: "foo", Offset: c.RecoveryPoint}}))
		checkForecast(t, c, forecastOf(t, fsys))
	}
}

func checkForecast(t *testing.T, c recoverycorpus.Case, f Forecast) {
	t.Helper()
	o := c.Outcome
	switch {
	case !o.Starts:
		if f.Action != ForecastRefuse || f.Why != o.Error+": "+o.Message {
			t.Errorf("%s: %s %q, Kafka's %s: %s", c.ID, f.Action, f.Why, o.Error, o.Message)
		}
	case f.Action == ForecastRefuse || f.To != o.LogEnd:
		t.Errorf("%s: %s to %d, Kafka's log end is %d", c.ID, f.Action, f.To, o.LogEnd)
	case f.Action == ForecastNothing && f.RecordsLost > 0:
		t.Errorf("%s: nothing happens, but %d records go", c.ID, f.RecordsLost)
	}
}

// TestForecastSplit: a segment with an offset too far above its base is split; a batch with
// a bad checksum in one of the parts is cut then, and those behind it go.
func TestForecastSplit(t *testing.T) {
	const far = 6_000_000_000
	fsys := memfs.New()
	noError(t, fsys.MkdirAll("d/foo-0"))
	var log []byte
	for _, offset := range []int64{0, 1, far, 3, 4, far + 5} {
		log = append(log, batchOf(t, offset, 1, 1)...)
	}
	put := func(suffix string, data []byte) {
		noError(t, vfs.WriteAtomic(fsys, "d/foo-0/"+segment.FileName(0, suffix), data))
	}
	put(segment.LogSuffix, log)
	put(segment.IndexSuffix, nil)
	put(segment.TimeIndexSuffix, nil)
	const words = "segment 00000000000000000000 would split into 00000000000000000000, 00000000006000000000, 00000000000000000003, 00000000006000000005: LogSegmentOffsetOverflowException: "
	f := forecastOf(t, fsys)
	if f.Action != ForecastSplit || f.To != far+6 || f.RecordsLost != 0 || !strings.HasPrefix(f.Why, words) {
		t.Errorf("%+v", f)
	}
	log[len(log)*5/6-1] ^= 1 // the last byte of the batch of offset 4
	put(segment.LogSuffix, log)
	f = forecastOf(t, fsys)
	if f.Action != ForecastDelete || f.To != 4 || f.RecordsLost != 3 || !strings.HasPrefix(f.Why, words) ||
		!strings.Contains(f.Why, "; segment 00000000000000000003 at byte 69: CorruptRecordException: ") {
		t.Errorf("%+v", f)
	}
}

func forecastOf(t *testing.T, fsys *memfs.FS) Forecast {
	t.Helper()
	d, err := store.Detect(fsys, "d")
	noError(t, err)
	rows, err := ForecastLogDir(t.Context(), d, store.LogDir{Path: "d"}, ForecastOptions{})
	noError(t, err)
	if len(rows) != 1 {
		t.Fatalf("%d rows", len(rows))
	}
	return rows[0]
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
