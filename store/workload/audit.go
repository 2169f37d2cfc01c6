package workload

import (
	"math/bits"
	"sync"

	"logdir/store/record"
)

// audit holds what one group reads against what was written.
type audit struct {
	plan *Plan
	run  int64

	mu    sync.Mutex
	seen  bitSet  // the messages that came
	last  []int32 // by partition and producer: the last message's sequence, plus 1
	homes []int32 // by key: the partition where it was seen, plus 1
	next  []int64 // by partition: behind the last offset that was read
	Audited
}

func newAudit(p *Plan, run int64, partitions int) *audit {
	return &audit{
		plan: p, run: run,
		seen:  newBitSet(p.Records()),
		last:  make([]int32, partitions*p.Producers),
		homes: make([]int32, p.Keys),
		next:  make([]int64, partitions),
	}
}

// sighting is one record that was read.
type sighting struct {
	offset int64
	key    int // or noKey
	message
}

// sight reads what a record says; ok is false if it is none of this run.
func (a *audit) sight(r *record.Record) (s sighting, ok bool) {
	m, ok := parseMessage(r.Value)
	if !ok || m.run != a.run || m.producer >= a.plan.Producers || m.sequence >= a.plan.Messages {
		return s, false
	}
	return sighting{offset: r.Offset, key: parseKey(r.Key), message: m}, true
}

// note enters what one poll read of a partition, up to offset next.
func (a *audit) note(partition int, read []sighting, next int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range read {
		a.noteOne(partition, s)
	}
	a.next[partition] = max(a.next[partition], next)
}

func (a *audit) noteOne(partition int, s sighting) {
	a.Records++
	if a.seen.set(a.plan.index(s.message)) {
		a.Duplicates++
		return
	}
	last := &a.last[partition*a.plan.Producers+s.producer]
	if int32(s.sequence) < *last || a.strays(partition, s.key) {
		a.OutOfOrder++
	}
	*last = max(*last, int32(s.sequence)+1)
}

// strays tells whether a key was seen in another partition before: there its records have
// no order.
func (a *audit) strays(partition, key int) bool {
	if key < 0 || key >= len(a.homes) {
		return a.plan.Keys > 0
	}
	home := &a.homes[key]
	if *home == 0 {
		*home = int32(partition) + 1
	}
	return *home != int32(partition)+1
}

// reached tells whether the group has read everything below the given log ends.
func (a *audit) reached(ends []int64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for n, end := range ends {
		if a.next[n] < end {
			return false
		}
	}
	return true
}

// read counts the records that came so far.
func (a *audit) read() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.Records
}

// close counts what is missing of the messages that were made, the first ones of each
// producer. Nobody expects what was excused.
func (a *audit) close(made int64, excused *excuses) Audited {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.Missing = made - a.seen.union(excused.all)
	return a.Audited
}

// index numbers the messages of all producers.
func (p *Plan) index(m message) int64 {
	return int64(m.producer)*int64(p.Messages) + int64(m.sequence)
}

// excuses are the messages that no leader has: they were diverted, or refused.
type excuses struct {
	plan *Plan

	mu     sync.Mutex
	all    bitSet // nil until the first
	reader *record.Reader
}

// add excuses the messages of a frame.
func (e *excuses) add(frame []byte) error {
	b, bad := record.View(frame)
	if bad != nil {
		return bad
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.all == nil {
		e.all, e.reader = newBitSet(e.plan.Records()), record.NewReader()
	}
	for e.reader.Reset(&b); e.reader.Next(); {
		if m, ok := parseMessage(e.reader.Record().Value); ok {
			e.all.set(e.plan.index(m))
		}
	}
	return e.reader.Err()
}

// bitSet is a set of small numbers.
type bitSet []uint64

func newBitSet(n int64) bitSet { return make(bitSet, (n+63)/64) }

// set adds n and tells whether it was there.
func (s bitSet) set(n int64) bool {
	word, bit := &s[n/64], uint64(1)<<(n%64)
	there := *word&bit != 0
	*word |= bit
	return there
}

// union counts the numbers that are in s, in o, or in both. A nil o is empty.
func (s bitSet) union(o bitSet) int64 {
	n := 0
	for i, word := range s {
		if o != nil {
			word |= o[i]
		}
		n += bits.OnesCount64(word)
	}
	return int64(n)
}
