// Package progress shows on stderr how far a long command is.
package progress

import (
	"io"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// delay is how long a command may take before anything is shown.
const delay = 500 * time.Millisecond

// Bar is the progress of one command, in bytes. A nil Bar shows nothing. Add may be
// called by many goroutines.
type Bar struct {
	done   atomic.Int64
	stop   chan struct{}
	closed chan struct{}
}

// Start begins a bar that appears on w after half a second.
func Start(w io.Writer, label string, total int64) *Bar {
	b := &Bar{stop: make(chan struct{}), closed: make(chan struct{})}
	go b.show(w, label, total)
	return b
}

// Add says that n more bytes are done.
func (b *Bar) Add(n int64) {
	if b != nil {
		b.done.Add(n)
	}
}

// Close takes the bar off the screen. It must be called before anything else is
// written there.
func (b *Bar) Close() {
	if b != nil {
		close(b.stop)
		<-b.closed
	}
}

func (b *Bar) show(w io.Writer, label string, total int64) {
	defer close(b.closed)
	select {
	case <-b.stop:
		return
	case <-time.After(delay):
	}
	screen := mpb.New(mpb.WithOutput(w), mpb.WithWidth(40), mpb.WithAutoRefresh())
	bar := screen.New(total, mpb.BarStyle(),
		mpb.PrependDecorators(decor.Name(label+" "), decor.Counters(decor.SizeB1024(0), "% .1f / % .1f")),
		mpb.AppendDecorators(decor.AverageSpeed(decor.SizeB1024(0), "% .0f "), decor.AverageETA(decor.ET_STYLE_GO)),
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
