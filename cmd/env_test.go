package cmd

import (
	"errors"
	"io"
	"strings"
	"testing"

	"logdir/store"
)

func TestConfirm(t *testing.T) {
	tests := []struct {
		name     string
		yes, tty bool
		answer   string
		want     string // "" for yes
		left     string // of standard input
	}{
		{"--yes", true, false, "", "", ""},
		{"no terminal", false, false, "y\n", "delete topic t needs a confirmation (POLICY_VIOLATION)", "y\n"},
		{"y", false, true, "y\nrest", "", "rest"},
		{"YES", false, true, "YES\n", "", ""},
		{"no", false, true, "no\n", "not confirmed: nothing was changed (POLICY_VIOLATION)", ""},
		{"nothing", false, true, "", "not confirmed: nothing was changed (POLICY_VIOLATION)", ""},
	}
	for _, tt := range tests {
		in := strings.NewReader(tt.answer)
		env := &Env{In: in, Err: io.Discard, StdinIsTTY: tt.tty, Global: Global{Yes: tt.yes}}
		err := env.Confirm("delete topic t")
		if got := text(err); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
		if e, ok := errors.AsType[*store.Error](err); ok && e.Class != store.Refused {
			t.Errorf("%s: class %v", tt.name, e.Class)
		}
		if left, _ := io.ReadAll(in); string(left) != tt.left {
			t.Errorf("%s: %q is left of the input, want %q", tt.name, left, tt.left)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// A failpoint ends the process where there is one to end, and is an error elsewhere.
func TestFailpoint(t *testing.T) {
	code := 0
	env := &Env{Err: io.Discard, Global: Global{Failpoints: []string{store.FailMidWrite}}}
	if err := env.Failpoint(store.FailAfterWrite); err != nil {
		t.Error(err)
	}
	if err := env.Failpoint(store.FailMidWrite); exitCode(err) != exitCrash {
		t.Errorf("got %v", err)
	}
	env.Exit = func(c int) { code = c }
	env.Failpoint(store.FailMidWrite)
	if code != exitCrash {
		t.Errorf("the process ended with %d", code)
	}
}

func TestColor(t *testing.T) {
	tests := []struct {
		name, flag string
		tty        bool
		variables  map[string]string
		want       bool
	}{
		{"pipe", "auto", false, nil, false},
		{"terminal", "auto", true, nil, true},
		{"NO_COLOR", "auto", true, map[string]string{"NO_COLOR": "1"}, false},
		{"empty NO_COLOR", "auto", true, map[string]string{"NO_COLOR": ""}, true},
		{"dumb terminal", "auto", true, map[string]string{"TERM": "dumb"}, false},
		{"never", "never", true, nil, false},
		{"always", "always", false, map[string]string{"NO_COLOR": "1"}, true},
	}
	for _, tt := range tests {
		env := &Env{StdoutIsTTY: tt.tty, Global: Global{Color: tt.flag}}
		env.Getenv = func(name string) (string, bool) { v, ok := tt.variables[name]; return v, ok }
		if got := env.useColor(); got != tt.want {
			t.Errorf("%s: got %v", tt.name, got)
		}
	}
}

func TestNow(t *testing.T) {
	const newYear = 1767225600000
	for _, s := range []string{"1767225600000", "2026-01-01T00:00:00Z", "2026-01-01T01:00:00.000+01:00"} {
		if got, err := parseNow(s); err != nil || got.UnixMilli() != newYear {
			t.Errorf("%s: got %v, %v", s, got, err)
		}
	}
	if _, err := parseNow("yesterday"); exitCode(err) != exitUsage {
		t.Errorf("got %v", err)
	}
}
