package cmd

import (
	"slices"
	"strconv"
)

// queueModel is what is known of a partition with little room.
type queueModel struct {
	sent []string // what is in the partition or in its queue
}

// fill sends records to the partition with little room: what it does not take is diverted.
func (m *model) fill() {
	value := strconv.Itoa(m.sent)
	m.sent++
	rows, _ := m.sh(value+"\n", "produce", "q", "--acks", "1", "--batch-size", "1", "--retries", "1", "--retry-backoff-ms", "0", "--report", "record")
	for _, r := range rows {
		if r.Status == "acked" || r.Status == "dlq" {
			m.queue.sent = append(m.queue.sent, value)
		}
	}
}

// retry sends what was diverted again, perhaps with more room.
func (m *model) retry() {
	if m.chance("more room") {
		m.ask("topic", "alter", "q", "-c", "logdir.partition.max.records="+strconv.Itoa(len(m.queue.sent)/2+2))
	}
	m.sh("", "dlq", "retry", "q")
}

// checkQueue requires that each record is once in the partition, or waits once in its queue,
// and none but those.
func (m *model) checkQueue() {
	rows, code := m.sh("", "fetch", "q", "--up-to", "leo")
	m.script = m.script[:len(m.script)-1]
	if code != exitOK {
		return // its broker is down
	}
	var there []string
	for _, r := range slices.Concat(rows, m.read("dlq", "show", "q")) {
		there = append(there, *r.Value)
	}
	slices.SortFunc(there, func(a, b string) int { return numberOf(a) - numberOf(b) })
	if !slices.Equal(there, m.queue.sent) {
		m.fail("q and its queue have %v, sent was %v", there, m.queue.sent)
	}
}
