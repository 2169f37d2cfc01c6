// Package logging writes the structured log, in one of two forms. The text form:
//
//	2026-01-01 00:00:00 | INFO  | partition | append topic=hot partition=0 base_offset=0 records=1
//
// with the level padded to 5 and the component to 9. The JSON form has the same
// fields, one object per line.
package logging

import (
	"context"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"
)

// Component is the attribute that names the part of the program: producer broker
// partition replica consumer group dlq recovery.
const Component = "component"

// Options says what is logged, and how.
type Options struct {
	Level string // debug, info, warn, error or off
	JSON  bool
	Now   func() time.Time // the clock of the timestamps
}

// New returns a log that writes to w, one Write per line.
func New(w io.Writer, o Options) *slog.Logger {
	if o.Level == "off" {
		return slog.New(slog.DiscardHandler)
	}
	h := handler{out: &output{w: w}, level: parseLevel(o.Level), now: o.Now, json: o.JSON}
	return slog.New(&h)
}

func parseLevel(s string) slog.Level {
	switch s {
	case "debug":
		return slog.LevelDebug
	case "info":
		return slog.LevelInfo
	case "error":
		return slog.LevelError
	}
	return slog.LevelWarn
}

// output serialises lines.
type output struct {
	mu  sync.Mutex
	w   io.Writer
	buf []byte
}

// handler is a slog.Handler; a copy is made for each logger derived by With.
type handler struct {
	out       *output
	level     slog.Level
	now       func() time.Time
	json      bool
	component string
	attrs     []slog.Attr
	prefix    string // of open groups, "a.b."
}

func (h *handler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.level }

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	c := *h
	c.attrs = h.attrs[:len(h.attrs):len(h.attrs)]
	for _, a := range attrs {
		if a.Key == Component {
			c.component = a.Value.String()
			continue
		}
		a.Key = h.prefix + a.Key
		c.attrs = append(c.attrs, a)
	}
	return &c
}

func (h *handler) WithGroup(name string) slog.Handler {
	c := *h
	c.prefix += name + "."
	return &c
}

func (h *handler) Handle(_ context.Context, r slog.Record) error {
	l := line{
		at: h.now().UTC(), level: levelName(r.Level), component: h.component,
		message: r.Message, attrs: h.attrs[:len(h.attrs):len(h.attrs)],
	}
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == Component {
			l.component = a.Value.String()
		} else {
			a.Key = h.prefix + a.Key
			l.attrs = append(l.attrs, a)
		}
		return true
	})
	return h.out.write(l, h.json)
}

func (o *output) write(l line, json bool) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if json {
		o.buf = l.appendJSON(o.buf[:0])
	} else {
		o.buf = l.appendText(o.buf[:0])
	}
	_, err := o.w.Write(o.buf)
	return err
}

func levelName(l slog.Level) string { return strings.ToUpper(l.String()) }

// File is a log file that is opened at the first line, so that a command that logs
// nothing leaves none behind. Lines of several processes do not mix: each is one
// appending write.
type File struct {
	path string
	once sync.Once
	f    *os.File
	err  error
}

// OpenLater returns a File for path.
func OpenLater(path string) *File { return &File{path: path} }

// Write appends to the file. The first error stays.
func (f *File) Write(p []byte) (int, error) {
	f.once.Do(func() {
		f.f, f.err = os.OpenFile(f.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	})
	if f.err != nil {
		return 0, f.err
	}
	n, err := f.f.Write(p)
	f.err = err
	return n, err
}

// Close closes the file and reports the first error of any write.
func (f *File) Close() error {
	if f.f == nil {
		return f.err
	}
	err := f.f.Close()
	if f.err != nil {
		return f.err
	}
	return err
}
