package cmd

import (
	"regexp"
	"strings"
	"testing"

	"logdir/cmd/internal/mdoc"
	"logdir/man"
)

// Every page that "logdir help" may show is within what its renderer knows.
func TestPagesRender(t *testing.T) {
	for _, name := range man.Topics() {
		page, _ := man.Page(name)
		text, err := mdoc.Text(page, "")
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !strings.HasPrefix(text, "NAME\n") {
			t.Errorf("%s: begins with %.20q", name, text)
		}
	}
}

func TestEveryHelpTopicHasText(t *testing.T) {
	for _, topic := range helpTopics {
		if text, err := topicText(topic); err != nil || len(text) < 100 {
			t.Errorf("%s: %q, %v", topic, text, err)
		}
	}
}

// Every command says in its help what a person looks for first.
func TestHelpOfEveryCommand(t *testing.T) {
	for _, c := range allCommands() {
		if c.Short == "" || c.Short != strings.TrimRight(c.Short, ".") {
			t.Errorf("%s: the one line %q is missing or ends in a full stop", c.CommandPath(), c.Short)
		}
		if !strings.HasPrefix(c.Example, "  logdir ") && !strings.Contains(c.Example, "logdir "+c.Name()) && !strings.Contains(c.Example, "logdir ") {
			t.Errorf("%s has no example", c.CommandPath())
		}
		if !strings.HasPrefix(c.Annotations[annotationExit], "0") && c.HasParent() && !c.HasSubCommands() {
			t.Errorf("%s does not list its exit codes", c.CommandPath())
		}
	}
}

// What has to be given has no default.
func TestRequiredFlagsHaveNoDefault(t *testing.T) {
	required := regexp.MustCompile(`(?:^|[^[])--([a-z-]+)`)
	for _, c := range allCommands() {
		for _, match := range required.FindAllStringSubmatch(c.Use, -1) {
			if f := c.Flags().Lookup(match[1]); f == nil || flagDefault(f) != "" {
				t.Errorf("%s: --%s: %+v", c.Use, match[1], f)
			}
		}
	}
}

// The name of a value stands beside its flag and not once more behind the explanation,
// unless something follows that needs it.
func TestFlagTextWithoutValue(t *testing.T) {
	for usage, want := range map[string]string{
		"how many: a `number`":                      "how many",
		"a config: `name=value` (repeatable)":       "a config (repeatable)",
		"stop after so many: a `number`, 0 for all": "stop after so many: a `number`, 0 for all",
		"`level`: one or two":                       "`level`: one or two",
		"with a colon: but no value":                "with a colon: but no value",
	} {
		if got := withoutValue(usage); got != want {
			t.Errorf("%q: %q, want %q", usage, got, want)
		}
	}
}
