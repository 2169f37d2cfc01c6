package cmd

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Every spelling belongs to a command that is there, and stands for a flag that is there or
// has an answer; every tool of Kafka leads to a command.
func TestSpellings(t *testing.T) {
	byPath := map[string]*cobra.Command{}
	for _, c := range allCommands() {
		byPath[strings.TrimPrefix(c.CommandPath(), "logdir ")] = c
	}
	for path, list := range spellings {
		c := byPath[path]
		if c == nil {
			t.Errorf("no command %q", path)
			continue
		}
		for _, s := range list {
			f := c.Flags().Lookup(s.kafka)
			if f == nil || !f.Hidden || s.flag != "" && c.Flags().Lookup(s.flag) == nil {
				t.Errorf("%s --%s: %+v", path, s.kafka, s)
			}
			if (s.flag == "") == (s.answer == "") && !s.alone {
				t.Errorf("%s --%s means nothing", path, s.kafka)
			}
		}
	}
	for tool, ours := range kafkaTools {
		words, _, _ := strings.Cut(ours, " --")
		if byPath[words] == nil {
			t.Errorf("%s: no command %q", tool, words)
		}
	}
}

// A switch is on or off in all the ways in which a boolean flag is.
func TestSpelledSwitch(t *testing.T) {
	for _, c := range []struct{ arg, want string }{
		{"--sync", "1"},
		{"--sync=true", "1"},
		{"--sync=1", "1"},
		{"--sync=false", "9"},
		{"--sync=0", "9"},
		{"--sync=F", "9"},
		{"--sync=maybe", "error"},
		{"--usual=maybe", "error"},
		{"--usual=0", "9"},
	} {
		fs := pflag.NewFlagSet("", pflag.ContinueOnError)
		got := fs.String("batch-size", "9", "")
		addSpellings(fs, []spelling{means("sync", "batch-size", "1"), usual("usual")})
		if err := fs.Parse([]string{c.arg}); err != nil {
			*got = "error"
		}
		if *got != c.want {
			t.Errorf("%s: %s, want %s", c.arg, *got, c.want)
		}
	}
}
