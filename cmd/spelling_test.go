package cmd

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
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
