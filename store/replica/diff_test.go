package replica_test

import (
	"testing"

	"logdir/store"
	"logdir/store/replica"
	"logdir/store/segment"
)

// side opens a broker's replica, or its first .log file alone.
func (l *lab) side(broker int32, file bool) *replica.Side {
	l.Helper()
	ref := store.PartitionRef{TopicPartition: tp, Broker: broker, Dir: l.c.ReplicaDir(tp, broker)}
	if file {
		ref.File = segment.FileName(0, segment.LogSuffix)
	}
	s, err := replica.OpenSide(l.fs, ref, func(store.PartitionRef) (*store.LogReader, error) { return l.c.LockedReader(tp, broker) })
	l.must(err)
	return s
}

// TestCompare holds broker 2 against broker 1, as directories and as files.
func TestCompare(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(l *lab)
		end  int64 // of broker 2
		same int64
		want replica.Status
	}{
		{"both empty", func(*lab) {}, 0, 0, replica.Same},
		{"the same", func(l *lab) { l.lead("a", "b"); l.round(replica.Options{}) }, 2, 2, replica.Same},
		{"behind", func(l *lab) { l.lead("a", "b"); l.round(replica.Options{MaxBytes: 1}) }, 1, 1, replica.Behind},
		{"longer", func(l *lab) { l.put(1, 0, "a"); l.put(2, 0, "a"); l.put(2, 0, "b") }, 2, 1, replica.Diverged},
		{"another value", func(l *lab) { l.put(1, 0, "a"); l.put(2, 0, "x") }, 1, 0, replica.Diverged},
		{"another epoch only", func(l *lab) { l.put(1, 1, "a"); l.put(2, 0, "a") }, 1, 0, replica.Diverged},
		{"damaged", func(l *lab) {
			l.lead("a", "b")
			l.round(replica.Options{})
			l.cut(l.logName(2), int64(len(frame("a")))+20)
		}, 1, 1, replica.Diverged},
	} {
		for _, file := range []bool{false, true} {
			l := newLab(t, 2)
			c.make(l)
			reference := l.side(1, file)
			got, err := replica.Compare(reference, l.side(2, file))
			l.must(err)
			if got.LogEnd != c.end || got.SameUpTo != c.same || got.Status != c.want {
				t.Errorf("%s (file %v): %+v", c.name, file, got)
			}
			if (got.Damage != nil) != (c.name == "damaged") {
				t.Errorf("%s (file %v): damage %v", c.name, file, got.Damage)
			}
			if r := reference.Reference(); r.Status != replica.IsLeader || r.SameUpTo != r.LogEnd {
				t.Errorf("%s: reference %+v", c.name, r)
			}
		}
	}
}

// put appends a record to one replica, whoever leads.
func (l *lab) put(broker, epoch int32, value string) {
	l.Helper()
	log, err := l.c.OpenReplica(l.ctx, tp, broker)
	l.must(err)
	_, err = log.Append(frame(value), epoch)
	l.must(err)
	l.must(log.Close())
}
