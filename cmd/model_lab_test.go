package cmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"logdir/store/vfs"
	"logdir/store/vfs/memfs"
)

// modelLab drives logdir as a person at a shell does, in this process and on a data
// directory in memory. It keeps the session as a script, which a failure shows.
type modelLab struct {
	*rapid.T
	fs     vfs.FS
	now    time.Time
	script []string
	last   string // the last command with all that it printed
}

func newModelLab(t *rapid.T) *modelLab {
	return &modelLab{T: t, fs: memfs.New(), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
}

// row is a line of JSON of any command.
type row struct {
	Topic         string
	Partition     int
	Broker        int
	Leader        *int
	Role          string
	Offset        int64
	Key, Value    *string
	BaseOffset    *int64 `json:"base_offset"`
	Records       int
	Status        string
	LogStart      int64  `json:"log_start"`
	HighWatermark *int64 `json:"high_watermark"`
	LogEnd        int64  `json:"log_end"`
	LastStable    *int64 `json:"last_stable"`
	NewOffset     int64  `json:"new_offset"`
	State         string
	Election      string
	Generation    int
	Member        string
	Assignment    []string
	CurrentOffset *int64  `json:"current_offset"`
	ConsumerID    *string `json:"consumer_id"`
	Expired       json.RawMessage
}

// ask runs a command that must not fail.
func (l *modelLab) ask(args ...string) []row {
	l.Helper()
	rows, code := l.sh("", args...)
	if code != exitOK {
		l.fail("exit code %d", code)
	}
	return rows
}

// read is ask for a command that only looks: the script does without it.
func (l *modelLab) read(args ...string) []row {
	l.Helper()
	rows := l.ask(args...)
	l.script = l.script[:len(l.script)-1]
	return rows
}

// sh runs a command with some input. Whatever the state of the cluster, no command may end
// in an unexpected error, in damage, or in bad usage.
func (l *modelLab) sh(stdin string, args ...string) (rows []row, code int) {
	l.Helper()
	line := "logdir " + strings.Join(args, " ")
	if stdin != "" {
		line = fmt.Sprintf("printf %q | %s", stdin, line)
	}
	var out, errs bytes.Buffer
	code = Main(append(args, "--json", "-d", "/data"), l.env(stdin, &out, &errs))
	l.script = append(l.script, fmt.Sprintf("%s   # exit %d", line, code))
	l.last = fmt.Sprintf("%s   # exit %d\n%s%s", line, code, out.String(), errs.String())
	if slices.Contains([]int{exitError, exitUsage, exitDamage, exitBusy, exitCrash}, code) {
		l.fail("exit code %d", code)
	}
	for d := json.NewDecoder(&out); ; {
		var r row
		if err := d.Decode(&r); err == io.EOF {
			return rows, code
		} else if err != nil {
			l.fail("%v", err)
		}
		rows = append(rows, r)
	}
}

func (l *modelLab) env(stdin string, out, errs io.Writer) *Env {
	nothing := func(string) (string, bool) { return "", false }
	return &Env{
		In: strings.NewReader(stdin), Out: out, Err: errs, FS: l.fs,
		Now:    func() time.Time { return l.now },
		Getenv: nothing, Environ: func() []string { return nil },
		Log: slog.New(slog.DiscardHandler),
	}
}

// fail ends the test with the session so far, and all that the last command printed.
func (l *modelLab) fail(format string, args ...any) {
	l.Helper()
	l.Fatalf("%s\nafter this session:\n%s\nThe last command was\n%s",
		fmt.Sprintf(format, args...), strings.Join(l.script, "\n"), l.last)
}

// pick draws one of some values.
func pick[V any](l *modelLab, what string, from ...V) V {
	return rapid.SampledFrom(from).Draw(l.T, what)
}

// chance draws whether to do something.
func (l *modelLab) chance(what string) bool { return rapid.Bool().Draw(l.T, what) }
