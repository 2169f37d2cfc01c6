package replica_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"logdir/store/cluster"
	"logdir/store/replica"
)

// model is what must hold of a partition on three brokers, whatever is done to it short
// of an unclean election.
type model struct {
	*lab
	sent int
	// acked are the records that acks=all acknowledged, and visible those that somebody
	// may have read: all below the high watermark of any moment. Both as "offset/epoch value".
	acked, visible []string
}

// TestModel does at random what an experimenter can do: produce with acks 1 and all, run
// rounds of some followers with little space, stop, crash, start and restart brokers, elect
// leaders cleanly and not. After each step:
//
//   - what acks=all acknowledged is in the log of every leader that was elected cleanly;
//   - nothing above the high watermark is fetched, and what was fetched once stays;
//   - the logs of all in-sync replicas are equal below the high watermark.
//
// An unclean election may lose records: the model forgets what its leader does not have.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{lab: newLab(t, 3, cluster.SegmentBytes+"=300", cluster.MinInSync+"=1")}
		t.Repeat(map[string]func(*rapid.T){
			"acks 1":   func(t *rapid.T) { m.produce(t) },
			"acks all": m.produceAll,
			"round":    m.someRound,
			"stop":     func(t *rapid.T) { m.with(t, true, m.stop) },
			"crash":    func(t *rapid.T) { m.with(t, true, m.crash) },
			"start":    func(t *rapid.T) { m.with(t, false, func(id int32) { m.start(id) }) },
			"restart":  func(t *rapid.T) { m.with(t, true, func(id int32) { m.must(replica.Restart(m.ctx, m.c, id)) }) },
			"elect":    func(t *rapid.T) { m.elect(t, false) },
			"unclean":  func(t *rapid.T) { m.elect(t, true) },
			"":         func(*rapid.T) { m.check() },
		})
		m.settle()
	})
}

// with does something with a broker that is up, or with one that is down, if there is any.
func (m *model) with(t *rapid.T, up bool, do func(id int32)) {
	m.must(m.c.Reload())
	var ids []int32
	for _, b := range m.c.Meta().Brokers {
		if (b.State == cluster.Up) == up {
			ids = append(ids, b.ID)
		}
	}
	if len(ids) > 0 {
		do(rapid.SampledFrom(ids).Draw(t, "broker"))
	}
}

// leader is the broker that leads, if any does.
func (m *model) leader() (id int32, ok bool) {
	m.must(m.c.Reload())
	leader, _, err := m.c.Meta().LeaderOf(tp)
	return leader, err == nil
}

// produce appends some records to the leader and returns its log end, 0 if none leads.
func (m *model) produce(t *rapid.T) (end int64) {
	leader, ok := m.leader()
	if !ok {
		return 0
	}
	for range rapid.IntRange(1, 3).Draw(t, "records") {
		m.sent++
		m.lead(fmt.Sprint("v", m.sent))
	}
	end, _ = m.marks(leader)
	return end
}

// produceAll runs some rounds after it appended. The producer is answered if the high
// watermark has reached its records by then; else it does not know.
func (m *model) produceAll(t *rapid.T) {
	end := m.produce(t)
	for range rapid.IntRange(0, 3).Draw(t, "rounds") {
		m.someRound(t)
	}
	if leader, ok := m.leader(); ok {
		if _, mark := m.marks(leader); mark >= end {
			m.acked = m.log(leader)[:end]
		}
	}
}

func (m *model) someRound(t *rapid.T) {
	if _, ok := m.leader(); !ok {
		return
	}
	m.round(replica.Options{
		MaxBytes: rapid.IntRange(1, 300).Draw(t, "max-bytes"),
		Except:   rapid.SliceOfN(rapid.Int32Range(1, 3), 0, 1).Draw(t, "except"),
		Sync:     rapid.Bool().Draw(t, "sync"),
	})
}

// elect makes a broker the leader, if that election is allowed.
func (m *model) elect(t *rapid.T, unclean bool) {
	m.with(t, true, func(to int32) {
		p := m.partition()
		if p.LeaderID() == to || !unclean && !p.InSync(to) {
			return
		}
		if e := m.promote(to, replica.Vote{Unclean: unclean}); !e.Clean {
			log := m.log(to)
			m.acked, m.visible = common(m.acked, log), common(m.visible, log)
		}
	})
}

// common is how far two logs are the same.
func common(a, b []string) []string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return a[:n]
}

// check holds the replicas to the promises.
func (m *model) check() {
	p := m.partition()
	leader := p.LeaderID()
	for _, broker := range p.ISR {
		if log := m.log(broker); !slices.Equal(common(m.acked, log), m.acked) {
			m.Fatalf("broker %d is in sync without what was acknowledged:\n%v\n%v", broker, m.acked, log)
		}
	}
	if leader < 0 {
		return
	}
	_, mark := m.marks(leader)
	read := m.log(leader)[:mark]
	if seen := min(len(read), len(m.visible)); !slices.Equal(read[:seen], m.visible[:seen]) {
		m.Fatalf("what was read once has changed:\n%v\n%v", m.visible, read)
	}
	if len(read) > len(m.visible) {
		m.visible = read
	}
	for _, broker := range p.ISR {
		if log := m.log(broker); len(log) < len(read) || !slices.Equal(log[:mark], read) {
			m.Fatalf("broker %d differs from leader %d below the high watermark %d:\n%v\n%v", broker, leader, mark, log, read)
		}
	}
}

// settle brings all brokers up and lets them catch up: then all logs are the same, and
// every promise is kept.
func (m *model) settle() {
	m.must(m.c.Reload())
	for _, b := range m.c.Meta().Brokers {
		if b.State != cluster.Up {
			m.start(b.ID)
		}
	}
	if p := m.partition(); p.Leader == nil {
		to, err := replica.Candidate(m.c.Meta(), tp, false)
		m.must(err)
		m.promote(to, replica.Vote{})
	}
	m.round(replica.Options{})
	m.round(replica.Options{})
	m.check()
	want := m.log(1)
	for broker := int32(1); broker <= 3; broker++ {
		if got := m.log(broker); !slices.Equal(got, want) {
			m.Fatalf("broker %d never became the same:\n%v\n%v", broker, got, want)
		}
		m.wantMarks(broker, int64(len(want)), int64(len(want)))
	}
}
