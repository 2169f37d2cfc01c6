package client

import (
	"runtime"

	"logdir/store"
	"logdir/store/corrupt"
	"logdir/store/record"
)

// source is where a Fetcher takes batches from: a cursor, which after a while is driven by
// a goroutine that reads ahead. The first records come without that detour.
type source struct {
	walk
	cursor *store.Cursor
	to     int64 // nothing is read behind this offset
	read   int   // bytes so far
}

// walk is what a cursor does and what one does that is driven ahead.
type walk interface {
	Next() bool
	Batch() *record.Batch
	Damage() *corrupt.Error
	File() string
	Pos() int64
	Err() error
	Close() error
}

const (
	// aheadAfter is how many bytes a fetch reads before it is worth a second goroutine.
	aheadAfter = 1 << 20
	chunkSize  = 256 << 10
	chunks     = 3 // being read, waiting, being decoded
	noSegment  = -1
)

// ahead drives a cursor in a goroutine of its own, so that reading and checksums overlap
// with decoding and printing. Batches are copied: a cursor keeps only the last one.
type ahead struct {
	cursor *store.Cursor // the goroutine's until filled is closed
	to     int64         // nothing is read behind this offset
	filled chan *chunk
	free   chan *chunk
	stop   chan struct{}
	file   string // of the segment that is read just now
	base   int64  // of that segment

	chunk *chunk
	at    int // of the current step in chunk
	batch record.Batch
}

// chunk is a run of steps of the cursor.
type chunk struct {
	data  []byte
	steps []step
}

// step is what one call of Next came to.
type step struct {
	start, end int // of the frame in data; equal if there is none
	file       string
	pos        int64
	damage     *corrupt.Error
}

func newSource(c *store.Cursor, to int64) *source { return &source{walk: c, cursor: c, to: to} }

// Next moves to the next batch or damaged range.
func (s *source) Next() bool {
	if s.read > aheadAfter && s.walk == walk(s.cursor) && runtime.GOMAXPROCS(0) > 1 {
		s.walk = readAhead(s.cursor, s.to)
	}
	if !s.walk.Next() {
		return false
	}
	if s.Damage() == nil {
		s.read += s.Batch().Size()
	}
	return true
}

// readAhead takes over a cursor, up to offset to.
func readAhead(c *store.Cursor, to int64) *ahead {
	a := &ahead{
		cursor: c, to: to, base: noSegment,
		filled: make(chan *chunk, chunks), free: make(chan *chunk, chunks), stop: make(chan struct{}),
	}
	for range chunks {
		a.free <- &chunk{}
	}
	go a.fill()
	return a
}

// fill reads chunks until the end, or until nobody wants more.
func (a *ahead) fill() {
	defer close(a.filled)
	for more := true; more; {
		select {
		case <-a.stop:
			return
		case k := <-a.free:
			more = a.fillOne(k)
			a.filled <- k // has room for all chunks
		}
	}
}

// fillOne takes steps of the cursor; it is false when there are no more to take.
func (a *ahead) fillOne(k *chunk) bool {
	k.data, k.steps = k.data[:0], k.steps[:0]
	for len(k.data) < chunkSize {
		if !a.cursor.Next() || a.add(k) >= a.to {
			return false
		}
	}
	return true
}

// add copies the step that the cursor took, and tells the offset behind it.
func (a *ahead) add(k *chunk) (next int64) {
	c := a.cursor
	if c.Segment() != a.base {
		a.base, a.file = c.Segment(), c.File()
	}
	s := step{start: len(k.data), pos: c.Pos(), file: a.file}
	d := c.Damage()
	if d != nil {
		copied := *d
		s.damage, next = &copied, d.NextOffset
	}
	if d == nil || d.EpochOnly() {
		k.data = append(k.data, c.Batch().Raw()...)
		next = c.Batch().NextOffset()
	}
	s.end = len(k.data)
	k.steps = append(k.steps, s)
	return next
}

// Next moves to the next step.
func (a *ahead) Next() bool {
	for a.chunk == nil || a.at+1 >= len(a.chunk.steps) {
		if a.chunk != nil {
			a.free <- a.chunk
		}
		var ok bool
		if a.chunk, ok = <-a.filled; !ok {
			return false
		}
		a.at = -1
	}
	a.at++
	if s := a.step(); s.end > s.start {
		a.batch, _ = record.View(a.chunk.data[s.start:s.end]) // the cursor has judged it
	}
	return true
}

func (a *ahead) step() *step            { return &a.chunk.steps[a.at] }
func (a *ahead) Batch() *record.Batch   { return &a.batch }
func (a *ahead) Damage() *corrupt.Error { return a.step().damage }
func (a *ahead) File() string           { return a.step().file }
func (a *ahead) Pos() int64             { return a.step().pos }

// Err is why the cursor ended. It counts only after Next was false.
func (a *ahead) Err() error { return a.cursor.Err() }

// Close ends the reading and closes the files.
func (a *ahead) Close() error {
	close(a.stop)
	for range a.filled {
	}
	return a.cursor.Close()
}
