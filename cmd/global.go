package cmd

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"logdir/cmd/internal/flagval"
	"logdir/cmd/internal/logging"
	"logdir/cmd/internal/render"
	"logdir/store"
)

// Global holds the flags that every command has.
type Global struct {
	DataDir     string
	Output      string // render.TableForm, JSON or TSV
	NoHeader    bool
	Failpoints  []string
	LockTimeout time.Duration
	Yes         bool
	Quiet       bool
	Verbose     int
	LogLevel    string
	LogFormat   string
	LogFile     string
	Color       string
	ConfigFile  string

	now  string // --now as written
	json bool   // --json, short for --output json
}

// addFlags defines the global flags on the root command.
func (g *Global) addFlags(fs *pflag.FlagSet) {
	g.Output, g.LogLevel, g.LogFormat, g.Color = render.TableForm, "warn", "text", "auto"
	fs.StringVarP(&g.DataDir, "data-dir", "d", ".", "the data `directory`")
	fs.Var(flagval.Enum(&g.Output, render.TableForm, render.JSON, render.TSV), "output", "`form` of stdout: table, json or tsv")
	fs.BoolVarP(&g.json, "json", "J", false, "short for --output json")
	fs.BoolVar(&g.NoHeader, "no-header", false, "no header line in table and tsv")
	fs.StringVar(&g.now, "now", "", "the clock: a `time` in ms or RFC 3339 (default the wall clock)")
	fs.StringSliceVar(&g.Failpoints, "failpoint", nil, "die at this `point` with exit code 99; a wrong name lists them all")
	fs.DurationVar(&g.LockTimeout, "lock-timeout", 10*time.Second, "how long to wait for another process: a `duration`, 0 for not at all")
	fs.BoolVarP(&g.Yes, "yes", "y", false, "answer confirmations with yes")
	fs.BoolVarP(&g.Quiet, "quiet", "q", false, "no hints and notes on stderr")
	fs.CountVarP(&g.Verbose, "verbose", "v", "log level info; -vv for debug")
	fs.Var(flagval.Enum(&g.LogLevel, "debug", "info", "warn", "error", "off"), "log-level", "`level` of the structured log: debug, info, warn, error or off")
	fs.Var(flagval.Enum(&g.LogFormat, "text", "json"), "log-format", "`form` of the log: text or json")
	fs.StringVar(&g.LogFile, "log-file", "", "write the log to this `file` instead of stderr")
	fs.Var(flagval.Enum(&g.Color, "auto", "always", "never"), "color", "`when` to colour status words: auto, always or never")
	fs.StringVar(&g.ConfigFile, "config", "", "settings `file` (default $XDG_CONFIG_HOME/logdir/config.yaml)")
	addSpellings(fs, globalSpellings)
}

// prepare runs before every command: settings, clock, log. A shell that asks for words
// gets them without: flags that the environment sets can still be given.
func (e *Env) prepare(cmd *cobra.Command, _ []string) error {
	if strings.HasPrefix(cmd.Name(), cobra.ShellCompRequestCmd) {
		return nil
	}
	if err := e.loadSettings(cmd); err != nil {
		return err
	}
	if e.Global.json {
		e.Global.Output = render.JSON
	}
	if err := checkFailpoints(e.Global.Failpoints); err != nil {
		return err
	}
	if err := e.setClock(); err != nil {
		return err
	}
	e.openLog()
	return nil
}

// checkFailpoints refuses a name that would never fire.
func checkFailpoints(names []string) error {
	for _, name := range names {
		if !slices.Contains(store.FailpointNames, name) {
			return usagef("no failpoint %q%s", name, didYouMean(name, store.FailpointNames)).
				WithHint("one of %s", strings.Join(store.FailpointNames, " "))
		}
	}
	return nil
}

// setClock stops the clock at --now.
func (e *Env) setClock() error {
	if e.Global.now == "" {
		return nil
	}
	t, err := parseNow(e.Global.now)
	if err != nil {
		return err
	}
	e.Now = func() time.Time { return t }
	return nil
}

func parseNow(s string) (time.Time, error) {
	if ms, err := strconv.ParseInt(s, 10, 64); err == nil {
		return time.UnixMilli(ms).UTC(), nil
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}, usagef("--now %q is neither milliseconds nor RFC 3339", s).
			WithHint("--now 2026-01-01T00:00:00Z")
	}
	return t.UTC(), nil
}

// openLog makes the structured log. The file is opened at the first line.
func (e *Env) openLog() {
	w := e.Err
	if e.Global.LogFile != "" {
		e.logFile = logging.OpenLater(e.Global.LogFile)
		w = e.logFile
	}
	e.Log = logging.New(w, logging.Options{
		Level: e.logLevel(), JSON: e.Global.LogFormat == "json", Now: e.Now,
	})
}

// logLevel is --log-level, or more by -v and -vv.
func (e *Env) logLevel() string {
	switch {
	case e.Global.Verbose > 1:
		return "debug"
	case e.Global.Verbose == 1 && e.Global.LogLevel != "debug":
		return "info"
	}
	return e.Global.LogLevel
}
