package cmd

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"logdir/cmd/internal/logging"
	"logdir/cmd/internal/progress"
	"logdir/cmd/internal/render"
	"logdir/store"
	"logdir/store/vfs"
)

// Env is everything a command may touch outside its own memory. Tests replace any
// part of it.
type Env struct {
	In       io.Reader
	Out, Err io.Writer
	FS       vfs.FS
	// Now is the clock; --now stops it.
	Now func() time.Time
	// Getenv looks a variable up; the bool says whether it is there.
	Getenv func(string) (string, bool)
	// Environ lists the environment as name=value.
	Environ func() []string
	// StdinIsTTY and its kin decide about prompts, colour and progress.
	StdinIsTTY, StdoutIsTTY, StderrIsTTY bool
	// Exit ends the process at once, for a failpoint; nil in tests, where Failpoint
	// returns an error instead.
	Exit func(code int)

	// Global holds the flags that every command has. It is complete once a command
	// runs.
	Global Global
	// Log is the structured log; silent below warn unless asked.
	Log *slog.Logger

	settings settings      // where each flag's value came from
	started  bool          // a command's own code runs: errors are no longer of usage
	rawArgs  []string      // for --json when parsing itself fails
	logFile  *logging.File // the target of --log-file
}

// OS is the real environment of the process.
func OS() *Env {
	return &Env{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		FS:          vfs.OS(),
		Now:         time.Now,
		Getenv:      os.LookupEnv,
		Environ:     os.Environ,
		StdinIsTTY:  term.IsTerminal(int(os.Stdin.Fd())),
		StdoutIsTTY: term.IsTerminal(int(os.Stdout.Fd())),
		StderrIsTTY: term.IsTerminal(int(os.Stderr.Fd())),
		Exit:        os.Exit,
		Log:         slog.New(slog.DiscardHandler),
	}
}

// JSON says whether stdout is to be JSON Lines.
func (e *Env) JSON() bool { return e.Global.Output == render.JSON }

// Print writes a report to stdout in the form that --output asks for. No rows print
// nothing.
func (e *Env) Print(r render.Report) error { return render.Write(e.Out, r, e.renderOptions()) }

// Stream prints rows as they come, where the form allows it: JSON and tsv at once, a
// table at Close, since its widths depend on all rows.
func (e *Env) Stream(columns []string, extra ...string) *render.Stream {
	return render.NewStream(e.Out, render.Table{Columns: columns, Extra: extra}, e.renderOptions())
}

func (e *Env) renderOptions() render.Options {
	return render.Options{
		Output:   e.Global.Output,
		NoHeader: e.Global.NoHeader,
		Color:    e.useColor(),
	}
}

// useColor follows --color, then NO_COLOR and TERM, then the terminal.
func (e *Env) useColor() bool {
	switch e.Global.Color {
	case "always":
		return true
	case "never":
		return false
	}
	if v, ok := e.Getenv("NO_COLOR"); ok && v != "" {
		return false
	}
	dumb, _ := e.Getenv("TERM")
	return e.StdoutIsTTY && dumb != "dumb"
}

// Note tells something on the way, on stderr; --quiet drops it.
func (e *Env) Note(format string, args ...any) { e.aside("note", format, args) }

// Hint names the command to type next, on stderr; --quiet drops it.
func (e *Env) Hint(format string, args ...any) { e.aside("hint", format, args) }

func (e *Env) aside(kind, format string, args []any) {
	if !e.Global.Quiet {
		fmt.Fprintf(e.Err, "%s: %s\n", kind, fmt.Sprintf(format, args...))
	}
}

// Tell writes one line to stderr that is part of the answer, such as a verdict; it is
// not dropped by --quiet.
func (e *Env) Tell(format string, args ...any) { fmt.Fprintf(e.Err, format+"\n", args...) }

// Progress shows how far a long command is, in bytes, on a terminal only. Close it before
// anything else is written.
func (e *Env) Progress(label string, total int64) *progress.Bar {
	if !e.StderrIsTTY || e.Global.Quiet {
		return nil
	}
	return progress.Start(e.Err, label, total)
}

// countProgress is Progress in records.
func (e *Env) countProgress(label string, total int64) *progress.Bar {
	if !e.StderrIsTTY || e.Global.Quiet {
		return nil
	}
	return progress.StartCount(e.Err, label, total)
}

// Confirm asks before something dangerous. It returns nil for yes; without a terminal
// and without --yes it refuses and names the flag.
func (e *Env) Confirm(question string) error {
	if e.Global.Yes {
		return nil
	}
	if !e.StdinIsTTY {
		return store.Errorf(store.Refused, "POLICY_VIOLATION", "%s needs a confirmation", question).
			WithHint("say --yes")
	}
	fmt.Fprintf(e.Err, "%s? [y/N] ", question)
	answer, err := readLine(e.In)
	if err != nil && err != io.EOF {
		return err
	}
	if yes := strings.ToLower(strings.TrimSpace(answer)); yes == "y" || yes == "yes" {
		return nil
	}
	return store.Errorf(store.Refused, "POLICY_VIOLATION", "not confirmed: nothing was changed")
}

// readLine reads one line and not a byte more: the rest of stdin belongs to others.
func readLine(r io.Reader) (string, error) {
	return bufio.NewReaderSize(oneByte{r}, 16).ReadString('\n')
}

// oneByte reads single bytes, so that no buffer runs ahead.
type oneByte struct{ r io.Reader }

func (o oneByte) Read(p []byte) (int, error) { return o.r.Read(p[:min(1, len(p))]) }

// Armed tells whether --failpoint names this place.
func (e *Env) Armed(name string) bool { return slices.Contains(e.Global.Failpoints, name) }

// Failpoint ends the process at once with exit code 99 if --failpoint names this
// place. Without Exit it returns the error that leads to the same code. An Env is the
// store.Failpoints of its commands.
func (e *Env) Failpoint(name string) error {
	if !e.Armed(name) {
		return nil
	}
	return e.Crash("failpoint %s", name)
}

// Crash ends the process as a power cut would, with exit code 99 and nothing cleaned
// up. Where the process must live on, as in tests, it returns the error of that code.
func (e *Env) Crash(format string, args ...any) error {
	err := &crashError{fmt.Sprintf(format, args...)}
	if e.Exit != nil {
		fmt.Fprintf(e.Err, "logdir: %s\n", err)
		e.Exit(exitCrash)
	}
	return err
}

// crashError is a simulated crash, asked for by --failpoint or --crash-after.
type crashError struct{ why string }

func (e *crashError) Error() string { return "simulated crash: " + e.why }

// close ends what the environment opened for a command.
func (e *Env) close() error {
	if e.logFile == nil {
		return nil
	}
	return e.logFile.Close()
}
