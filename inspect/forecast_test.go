package inspect

import (
	"testing"

	"logdir/fixtures/recoverycorpus"
	"logdir/store"
	"logdir/store/checkpoint"
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
		d, err := store.Detect(fsys, "d")
		noError(t, err)
		rows, err := ForecastLogDir(t.Context(), d, store.LogDir{Path: "d"}, ForecastOptions{})
		noError(t, err)
		if len(rows) != 1 {
			t.Fatalf("%s: %d rows", c.ID, len(rows))
		}
		checkForecast(t, c, rows[0])
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

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
