// Package progress shows on stderr how far a long command is.
package progress

import (
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// delay is how long a command may take before anything is shown.
const delay = 500 * time.Millisecond

// Bar is the progress of one command, in bytes or in records. A nil Bar shows nothing. Add may be
// called by many goroutines.
type Bar struct {
	done   atomic.Int64
	once   sync.Once
	stop   chan struct{}
	closed chan struct{}
}

// Start begins a bar of bytes that appears on w after half a second.
func Start(w io.Writer, label string, total int64) *Bar {
	return start(w, label, total, inBytes)
}

// StartCount begins a bar of records, whose total may be a guess.
func StartCount(w io.Writer, label string, total int64) *Bar {
	return start(w, label, total, inRecords)
}

func start(w io.Writer, label string, total int64, u unit) *Bar {
	b := &Bar{stop: make(chan struct{}), closed: make(chan struct{})}
	go b.show(w, label, total, u)
	return b
}

// unit says how the numbers of a bar are written.
type unit struct {
	counters func() decor.Decorator
	speed    func() decor.Decorator
}

var (
	inBytes = unit{
		counters: func() decor.Decorator { return decor.Counters(decor.SizeB1024(0), "% .1f / % .1f") },
		speed:    func() decor.Decorator { return decor.AverageSpeed(decor.SizeB1024(0), "% .0f ") },
	}
	inRecords = unit{
		counters: func() decor.Decorator { return decor.CountersNoUnit("%d / %d records") },
		speed:    func() decor.Decorator { return decor.AverageSpeed(0, "%.0f/s ") },
	}
)

// Add says that n more are done.
func (b *Bar) Add(n int64) {
	if b != nil {
		b.done.Add(n)
	}
}

// Close takes the bar off the screen. It must be called before anything else is
// written there; a second call does nothing.
func (b *Bar) Close() {
	if b != nil {
		b.once.Do(func() { close(b.stop) })
		<-b.closed
	}
}

func (b *Bar) show(w io.Writer, label string, total int64, u unit) {
	defer close(b.closed)
	select {
	case <-b.stop:
		return
	case <-time.After(delay):
	}
	screen := mpb.New(mpb.WithOutput(w), mpb.WithWidth(40), mpb.WithAutoRefresh())
	bar := screen.New(total, mpb.BarStyle(),
		mpb.PrependDecorators(decor.Name(label+" "), u.counters()),
		mpb.AppendDecorators(u.speed(), decor.AverageETA(decor.ET_STYLE_GO)),
		mpb.BarRemoveOnComplete())
	b.follow(bar)
	bar.Abort(true)
	screen.Wait()
}

// follow moves the bar along until the command is done.
func (b *Bar) follow(bar *mpb.Bar) {
	tick := time.NewTicker(delay / 5)
	defer tick.Stop()
	for {
		bar.SetCurrent(b.done.Load())
		select {
		case <-b.stop:
			return
		case <-tick.C:
		}
	}
}
