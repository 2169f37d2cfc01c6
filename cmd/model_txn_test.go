package cmd

import (
	"fmt"
	"strconv"
	"strings"

	"pgregory.net/rapid"
)

// fate is what became of a record of a transaction.
type fate int

const (
	plain     fate = iota // it belongs to none
	open                  // the transaction is open
	committed             // it was committed
	aborted               // it was aborted
	unknown               // nobody was told, or an unclean election took the marker
)

// txnModel is what is known of the transactions of one transactional id.
type txnModel struct {
	fates map[string]fate     // by value
	of    map[string][]string // by partition: values of the open transaction that were acknowledged
}

func newTxnModel() *txnModel {
	return &txnModel{fates: map[string]fate{}, of: map[string][]string{}}
}

// end gives every record of the open transaction its fate.
func (x *txnModel) end(f fate) {
	for value, was := range x.fates {
		if was == open {
			x.fates[value] = f
		}
	}
	clear(x.of)
}

// doubt forgets the fates of records in which an unclean election may have meddled.
func (x *txnModel) doubt(p *partitionModel) {
	for value := range p.ever {
		if _, ok := x.fates[value]; ok {
			x.fates[value] = unknown
		}
	}
	delete(x.of, p.String())
}

// transact takes some steps of a transaction; one in three is a whole one.
func (m *model) transact() {
	steps := []string{"begin", "produce", pick(m.modelLab, "end", "commit", "abort")}
	if rapid.IntRange(0, 2).Draw(m.T, "whole") > 0 {
		steps = []string{pick(m.modelLab, "step", "begin", "produce", "produce", "offsets", "commit", "abort")}
	}
	for _, step := range steps {
		m.transactStep(step)
	}
}

func (m *model) transactStep(step string) {
	switch step {
	case "begin":
		_, code := m.sh("", "txn", "begin", "x")
		m.txn.end(endedWith(code, aborted))
	case "produce":
		m.produceInTxn()
	case "offsets":
		m.sh("", "txn", "send-offsets", "x", m.group().name, "--member", m.member())
	case "commit":
		of := m.txn.of
		if _, code := m.sh("", "txn", "commit", "x"); code != exitOK {
			m.txn.end(unknown)
			return
		}
		m.acknowledge(of)
		m.txn.end(committed)
	case "abort":
		_, code := m.sh("", "txn", "abort", "x")
		m.txn.end(endedWith(code, aborted))
	}
}

// endedWith is the fate of records if a command was to end their transaction.
func endedWith(code int, f fate) fate {
	if code != exitOK {
		return unknown
	}
	return f
}

// acknowledge counts what a commit made visible among what acks=all acknowledged.
func (m *model) acknowledge(of map[string][]string) {
	for _, p := range m.partitions {
		for _, value := range of[p.String()] {
			p.acked[value] = true
		}
	}
}

func (m *model) produceInTxn() {
	p := m.partition()
	lines, values := m.lines(p)
	rows, _ := m.sh(lines, "txn", "produce", "x", p.topic, "-p", strconv.Itoa(p.number), "-K", ":",
		"--replicate", "--request-timeout-ms", "0", "--retry-backoff-ms", "0", "--report", "record")
	for _, value := range values {
		m.txn.fates[value] = open
	}
	for i, r := range rows {
		if r.Status == "acked" {
			m.txn.of[p.String()] = append(m.txn.of[p.String()], values[i])
		}
	}
}

// lines draws some records for a partition, as produce reads them.
func (m *model) lines(p *partitionModel) (lines string, values []string) {
	var b strings.Builder
	for range rapid.IntRange(1, 4).Draw(m.T, "records") {
		value := strconv.Itoa(m.sent)
		fmt.Fprintf(&b, "k%d:%s\n", rapid.IntRange(0, 2).Draw(m.T, "key"), value)
		values = append(values, value)
		p.ever[value] = true
		m.sent++
	}
	return b.String(), values
}

// checkCommitted requires that a reader of committed records sees all of them below the
// last stable offset, and nothing of a transaction that is open or was aborted.
func (m *model) checkCommitted(p *partitionModel) {
	shown := map[string]bool{}
	for _, r := range m.read("fetch", p.String(), "--isolation-level", "read_committed") {
		shown[*r.Value] = true
	}
	for _, r := range p.log {
		stable := r.Offset < min(p.mark, p.stable)
		switch f := m.txn.fates[*r.Value]; {
		case shown[*r.Value] && (!stable || f == open || f == aborted):
			m.fail("%s: %s at offset %d is read as committed; its fate is %d, the last stable offset %d", p, *r.Value, r.Offset, f, p.stable)
		case !shown[*r.Value] && stable && (f == plain || f == committed):
			m.fail("%s: %s at offset %d is not read as committed; the last stable offset is %d", p, *r.Value, r.Offset, p.stable)
		}
		delete(shown, *r.Value)
	}
	if len(shown) > 0 {
		m.fail("%s: %v are read as committed, and not there", p, shown)
	}
}
