package cmd

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestModel runs random sessions of all lab commands, typed as a person types them, on
// three brokers with a plain topic and a compacted one, and holds what they print to what
// must be true of any cluster:
//
//   - what acks=all acknowledged is on the leader after every clean election;
//   - nothing above the high watermark is fetched, and what was fetched once stays what it was;
//   - a partition has its records in the order in which they were sent, each once, also when
//     an idempotent producer had to send it again;
//   - a partition has one owner in each generation of a group, and an old generation is fenced;
//   - a group is handed every record, in order, and commits nothing that it was not handed;
//   - groups know nothing of each other;
//   - who reads committed records sees nothing of a transaction that is open or was aborted,
//     and all of one that was committed;
//   - what a full partition does not take waits in its queue, and comes from there once.
//
// An unclean election may lose records: the model forgets what the new leader lacks. In the
// end every broker comes up, all replicas of the plain topic are the same, and check finds
// nothing. rapid prints the seed of a failing session and makes it shorter.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(t)
		t.Repeat(map[string]func(*rapid.T){
			"produce":    m.on(m.produce),
			"produce 2":  m.on(m.produce), // more often than anything else
			"idempotent": m.on(m.produceAgain),
			"replicate":  m.on(m.replicate),
			"broker":     m.on(m.changeBroker),
			"promote":    m.on(m.promote),
			"unclean":    m.on(m.promoteUnclean),
			"upkeep":     m.on(m.upkeep),
			"clock":      m.on(func() { m.now = m.now.Add(pick(m.modelLab, "time", time.Second, 20*time.Second, time.Minute)) }),
			"join":       m.on(m.join),
			"leave":      m.on(m.leave),
			"poll":       m.on(m.poll),
			"commit":     m.on(m.commit),
			"heartbeat":  m.on(m.heartbeat),
			"expire":     m.on(m.expire),
			"seek":       m.on(m.seek),
			"reset":      m.on(m.reset),
			"txn":        m.on(m.transact),
			"txn more":   m.on(m.transact),
			"fill":       m.on(m.fill),
			"retry":      m.on(m.retry),
			"":           func(*rapid.T) { m.check() },
		})
		m.settle()
	})
}

// model is what is known of a cluster without looking at it.
type model struct {
	*modelLab
	sent       int // values are numbers, in the order of sending
	partitions []*partitionModel
	groups     []*groupModel
	txn        *txnModel
	queue      queueModel
}

// partitionModel is what is known of one partition.
type partitionModel struct {
	topic     string
	number    int
	compacted bool
	ever      map[string]bool  // values that were sent
	acked     map[string]bool  // values that acks=all acknowledged
	visible   map[int64]string // values by offset that somebody may have read
	start     int64            // the highest log start offset seen
	led       bool             // has a leader
	leader    int              // which broker that is
	log       []row            // the leader's records, up to its log end
	mark, end int64            // its high watermark and log end
	stable    int64            // its last stable offset
}

func (p *partitionModel) String() string { return fmt.Sprintf("%s:%d", p.topic, p.number) }

const modelBrokers = 3

func newModel(t *rapid.T) *model {
	m := &model{modelLab: newModelLab(t), txn: newTxnModel()}
	m.ask("init", "--brokers", strconv.Itoa(modelBrokers))
	m.ask("topic", "create", "t", "-p", "2", "-r", "3", "-c", "segment.bytes=400")
	m.ask("topic", "create", "k", "-r", "2", "-c", "cleanup.policy=compact", "-c", "segment.bytes=300", "-c", "index.interval.bytes=1")
	m.ask("topic", "create", "q", "-c", "logdir.partition.max.records=3")
	for _, p := range []partitionModel{{topic: "t"}, {topic: "t", number: 1}, {topic: "k", compacted: true}} {
		p.ever, p.acked, p.visible = map[string]bool{}, map[string]bool{}, map[int64]string{}
		m.partitions = append(m.partitions, &p)
	}
	for _, name := range []string{"g", "h"} {
		m.groups = append(m.groups, newGroupModel(name))
	}
	m.look()
	return m
}

// on makes a step of the model one of rapid's actions.
func (m *model) on(step func()) func(*rapid.T) { return func(*rapid.T) { step() } }

func (m *model) partition() *partitionModel { return pick(m.modelLab, "partition", m.partitions...) }

// produce sends some records to one partition.
func (m *model) produce() {
	acks := pick(m.modelLab, "acks", "0", "1", "all")
	flags := []string{"--acks", acks, "--request-timeout-ms", "0"}
	if acks == "all" && m.chance("replicate") {
		flags = []string{"--acks", acks, "--replicate"}
	}
	m.send(acks == "all", flags...)
}

// produceAgain sends some records as an idempotent producer whose acknowledgements get lost
// on the way, so that it sends them again.
func (m *model) produceAgain() {
	lost := strconv.Itoa(rapid.IntRange(0, 3).Draw(m.T, "lost"))
	m.send(true, "--idempotent", "--replicate", "--lose-acks", lost, "--retry-backoff-ms", "0")
}

func (m *model) send(all bool, flags ...string) {
	p := m.partition()
	lines, values := m.lines(p)
	size := pick(m.modelLab, "batch-size", "1", "16384")
	args := append([]string{"produce", p.topic, "-p", strconv.Itoa(p.number), "-K", ":", "--batch-size", size, "--report", "record"}, flags...)
	rows, _ := m.sh(lines, args...)
	for i, r := range rows {
		if all && (r.Status == "acked" || r.Status == "duplicate") {
			p.acked[values[i]] = true
		}
	}
}

// replicate runs a round of some followers with little space.
func (m *model) replicate() {
	args := []string{"replicate", "--max-bytes", pick(m.modelLab, "max-bytes", "1", "200", "1000000")}
	if m.chance("except one") {
		args = append(args, "--except", m.broker())
	}
	m.sh("", args...)
}

func (m *model) broker() string {
	return strconv.Itoa(rapid.IntRange(1, modelBrokers).Draw(m.T, "broker"))
}

// changeBroker stops, crashes or starts a broker, whether that makes sense or not.
func (m *model) changeBroker() {
	what := pick(m.modelLab, "what", "stop", "crash", "start", "start", "restart", "power cut")
	args := []string{"broker", what, m.broker()}
	if what == "power cut" {
		args[1] = "crash"
		args = append(args, "--lose-unflushed", "--torn-bytes", pick(m.modelLab, "torn", "0", "30"))
	}
	m.sh("", args...)
}

func (m *model) promote() {
	m.sh("", "promote", m.partition().String(), "--to", m.broker())
}

// promoteUnclean elects a leader that may lack records: they are lost. Of a compacted topic
// more is lost, as in Kafka: another replica may have cleaned away what a lost record had
// superseded, and lead later.
func (m *model) promoteUnclean() {
	p := m.partition()
	rows, _ := m.sh("", "promote", p.String(), "--to", m.broker(), "--unclean")
	if len(rows) == 0 || rows[0].Election != "unclean" {
		return
	}
	m.look()
	there := p.values()
	maps.DeleteFunc(p.acked, func(value string, _ bool) bool { return !there[value] || p.compacted })
	maps.DeleteFunc(p.visible, func(_ int64, value string) bool { return !there[value] })
	m.txn.doubt(p)
}

// upkeep removes what is old or superseded. The log start offset never passes the high
// watermark.
func (m *model) upkeep() {
	p := m.partition()
	switch pick(m.modelLab, "upkeep", "roll", "compact", "delete-records", "retention", "truncate") {
	case "roll":
		m.sh("", "roll", p.String())
	case "compact":
		m.sh("", "compact", "k:0")
	case "delete-records":
		to := rapid.Int64Range(0, max(0, p.mark)).Draw(m.T, "before")
		if !p.compacted {
			m.sh("", "delete-records", p.String(), "--before", fmt.Sprint(to), "-y")
		}
	case "truncate":
		m.truncate(p)
	case "retention":
		m.sh("", "retention", p.String(), "--retention-bytes", "800")
	}
}

// truncate cuts a follower's log above all that was ever below a high watermark (a new leader
// may know an older one): the follower fetches that again.
func (m *model) truncate(p *partitionModel) {
	broker := m.broker()
	if !p.led || broker == strconv.Itoa(p.leader) || !m.up(broker) {
		return // what is down may have a torn tail
	}
	keep := p.mark
	for offset := range p.visible {
		keep = max(keep, offset+1)
	}
	to := rapid.Int64Range(keep, max(keep, p.end)).Draw(m.T, "to")
	m.sh("", "truncate", p.String()+"@"+broker, "--to", fmt.Sprint(to), "--round-down", "-y")
}

func (m *model) up(broker string) bool {
	return slices.ContainsFunc(m.read("broker", "list"), func(r row) bool {
		return strconv.Itoa(r.Broker) == broker && r.State == "up"
	})
}

// look reads what all leaders have.
func (m *model) look() {
	for _, p := range m.partitions {
		p.led, p.log = false, nil
	}
	for _, r := range m.read("offsets", "--isolation-level", "read_committed") {
		if r.Topic == "q" {
			continue
		}
		p := m.find(r.Topic, r.Partition)
		if p.led = r.Role == "leader"; !p.led {
			continue
		}
		p.leader, p.stable = r.Broker, *r.LastStable
		p.mark, p.end, p.start = *r.HighWatermark, r.LogEnd, max(p.start, r.LogStart)
		p.log = m.read("fetch", p.String(), "--up-to", "leo")
	}
}

func (m *model) find(topic string, number int) *partitionModel {
	i := slices.IndexFunc(m.partitions, func(p *partitionModel) bool { return p.topic == topic && p.number == number })
	return m.partitions[i]
}

func (p *partitionModel) values() map[string]bool {
	all := map[string]bool{}
	for _, r := range p.log {
		all[*r.Value] = true
	}
	return all
}

// check holds the leaders and the groups to the promises.
func (m *model) check() {
	m.look()
	for _, p := range m.partitions {
		if p.led {
			m.checkOrder(p)
			m.checkVisible(p)
			m.checkAcked(p)
			m.checkCommitted(p)
		}
	}
	for _, g := range m.groups {
		m.checkGroup(g)
	}
	m.checkQueue()
}

// checkOrder requires that values and offsets rise.
func (m *model) checkOrder(p *partitionModel) {
	last, value := int64(-1), -1
	for _, r := range p.log {
		n, err := strconv.Atoi(*r.Value)
		if err != nil || n <= value || r.Offset <= last || r.Offset >= p.end {
			m.fail("%s: value %s at offset %d stands behind %d at %d", p, *r.Value, r.Offset, value, last)
		}
		last, value = r.Offset, n
	}
}

// checkVisible requires that fetch shows just what is below the high watermark, and that
// what it showed once has not changed.
func (m *model) checkVisible(p *partitionModel) {
	shown := m.read("fetch", p.String())
	below := slices.DeleteFunc(slices.Clone(p.log), func(r row) bool { return r.Offset >= p.mark })
	if !slices.EqualFunc(shown, below, func(a, b row) bool { return a.Offset == b.Offset && *a.Value == *b.Value }) {
		m.fail("%s: fetch shows %d records, %d are below the high watermark %d", p, len(shown), len(below), p.mark)
	}
	for _, r := range shown {
		if was, ok := p.visible[r.Offset]; ok && was != *r.Value {
			m.fail("%s: offset %d was %s and is %s", p, r.Offset, was, *r.Value)
		}
		p.visible[r.Offset] = *r.Value
	}
	at := map[int64]bool{}
	for _, r := range p.log {
		at[r.Offset] = true
	}
	for offset, value := range p.visible {
		if offset >= p.start && !at[offset] && !p.compacted {
			m.fail("%s: %s was visible at offset %d and is gone", p, value, offset)
		}
	}
}

// checkAcked requires that what was acknowledged is there, or below the log start offset,
// or superseded by a later record of its key.
func (m *model) checkAcked(p *partitionModel) {
	there, newest := p.values(), ""
	if len(p.log) > 0 {
		newest = *p.log[len(p.log)-1].Value
	}
	for value := range p.acked {
		if !there[value] && !p.deleted(value) && (!p.compacted || newest == "" || numberOf(newest) <= numberOf(value)) {
			m.fail("%s: %s was acknowledged and is gone", p, value)
		}
	}
}

// deleted tells whether a value stood below the log start offset.
func (p *partitionModel) deleted(value string) bool {
	if len(p.log) > 0 && numberOf(value) < numberOf(*p.log[0].Value) {
		return p.start > 0
	}
	return len(p.log) == 0 && p.start > 0
}

func numberOf(value string) int {
	n, _ := strconv.Atoi(value)
	return n
}

// settle brings everything up: then the replicas are the same, and nothing is wrong with any
// file.
func (m *model) settle() {
	for id := 1; id <= modelBrokers; id++ {
		m.sh("", "broker", "start", strconv.Itoa(id))
	}
	for _, r := range m.read("topic", "describe") {
		if r.Leader == nil && r.Topic != "q" { // a broker that comes up leads what it has alone
			m.revive(m.find(r.Topic, r.Partition))
		}
	}
	m.ask("replicate", "--until-caught-up")
	m.ask("replicate")
	m.check()
	for _, p := range m.partitions[:2] {
		for _, r := range m.read("diff", p.String()) {
			if r.Status != "leader" && r.Status != "same" {
				m.fail("%s on broker %d is %s", p, r.Broker, r.Status)
			}
		}
	}
	m.ask("check")
}

// revive elects a leader among those that have everything.
func (m *model) revive(p *partitionModel) {
	for id := 1; id <= modelBrokers; id++ {
		if _, code := m.sh("", "promote", p.String(), "--to", strconv.Itoa(id)); code == exitOK {
			return
		}
	}
	m.fail("%s: nobody can lead", p)
}
