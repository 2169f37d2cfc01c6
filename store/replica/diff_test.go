package replica_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/corrupt"
	"logdir/store/replica"
	"logdir/store/segment"
	"logdir/store/vfs"
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
		{"torn", func(l *lab) {
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
			if (got.Damage != nil) != (c.name == "torn") {
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

// TestComparePastDamage: each side is one batch a value. In hurt, ! is a flipped bit of the value
// and e one of the leader epoch; a trailing t tears the last batch.
func TestComparePastDamage(t *testing.T) {
	type log struct{ values, hurt string }
	for _, c := range []struct {
		name              string
		reference, own    log
		end, same         int64
		different, hidden string
		damage            [2]int // of the reference, and the own
		want              replica.Status
	}{
		{"none", log{"abcd", ""}, log{"abcd", ""}, 4, 4, "[]", "[]", [2]int{}, replica.Same},
		{"in the own log", log{"abcde", ""}, log{"abcde", "  !"}, 5, 2, "[]", "[{2 3}]", [2]int{0, 1}, replica.Diverged},
		{"in the reference", log{"abcde", "  !"}, log{"abcde", ""}, 5, 2, "[]", "[{2 3}]", [2]int{1, 0}, replica.Diverged},
		{"in both", log{"abcdef", " !"}, log{"abcdef", "   !!"}, 6, 1, "[]", "[{1 2} {3 5}]", [2]int{1, 2}, replica.Diverged},
		{"and other batches behind it", log{"abcdef", ""}, log{"abcDEf", " !"}, 6, 1, "[{3 5}]", "[{1 2}]", [2]int{0, 1}, replica.Diverged},
		{"and another end", log{"abcde", ""}, log{"abcDEF", "!"}, 6, 0, "[{3 6}]", "[{0 1}]", [2]int{0, 1}, replica.Diverged},
		{"and behind", log{"abcde", ""}, log{"abc", " !"}, 3, 1, "[]", "[{1 2}]", [2]int{0, 1}, replica.Diverged},
		{"at the end of the reference", log{"abcd", "   t"}, log{"abcd", ""}, 4, 3, "[]", "[{3 4}]", [2]int{1, 0}, replica.Diverged},
		{"at both ends", log{"abcd", "   t"}, log{"abcd", "   t"}, 3, 3, "[]", "[]", [2]int{1, 1}, replica.Diverged},
		{"in the epoch only", log{"abcd", ""}, log{"abcd", " e"}, 4, 1, "[]", "[{1 2}]", [2]int{0, 1}, replica.Diverged},
	} {
		for _, file := range []bool{false, true} {
			l := newLab(t, 2)
			for broker, log := range map[int32]log{1: c.reference, 2: c.own} {
				for _, v := range log.values {
					l.put(broker, 0, string(v))
				}
				l.hurt(l.logName(broker), log.hurt)
			}
			reference := l.side(1, file)
			got, err := replica.Compare(reference, l.side(2, file))
			l.must(err)
			if got.LogEnd != c.end || got.SameUpTo != c.same || got.Status != c.want {
				t.Errorf("%s (file %v): %+v", c.name, file, got)
			}
			if fmt.Sprint(got.Different) != c.different || fmt.Sprint(got.Hidden) != c.hidden {
				t.Errorf("%s (file %v): different %v, hidden %v", c.name, file, got.Different, got.Hidden)
			}
			if n := [2]int{len(reference.Damage()), len(got.Damage)}; n != c.damage {
				t.Errorf("%s (file %v): damage %v", c.name, file, n)
			}
		}
	}
}

// hurt damages the batches of a log, which are all of one size.
func (l *lab) hurt(name, how string) {
	l.Helper()
	size := int64(len(frame("a")))
	f, err := l.fs.OpenRW(name)
	l.must(err)
	for i, c := range how {
		switch start := int64(i) * size; c {
		case '!':
			_, err = f.WriteAt([]byte{0xff}, start+size-2)
		case 'e':
			_, err = f.WriteAt([]byte{0x7f}, start+12)
		case 't':
			err = f.Truncate(start + size - 5)
		}
		l.must(err)
	}
	l.must(f.Close())
}

// TestCompareDamagedEpochs: a history of epochs that cannot be read is damage, and the batches
// are compared all the same.
func TestCompareDamagedEpochs(t *testing.T) {
	l := newLab(t, 2)
	l.lead("a")
	l.round(replica.Options{})
	l.must(vfs.WriteAtomic(l.fs, filepath.Join(l.c.ReplicaDir(tp, 2), checkpoint.EpochFile), []byte("0\n1\n0 zero\n")))
	got, err := replica.Compare(l.side(1, false), l.side(2, false))
	l.must(err)
	if len(got.Damage) != 1 || got.Damage[0].Kind != corrupt.BadCheckpoint || len(got.Epochs) != 0 || got.SameUpTo != 1 || got.Status != replica.Diverged {
		t.Errorf("%+v", got)
	}
}
