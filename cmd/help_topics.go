package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/mdoc"
	"logdir/man"
	"logdir/store"
)

// helpTopics are the words that "logdir help" explains before it looks for a command:
// the pages of these names in sections 5 and 7, and the exit codes.
var helpTopics = []string{"offsets", "format", "concepts", "kafka", "experiments", exitCodesTopic}

const exitCodesTopic = "exit-codes"

// newHelpCmd explains a topic or a command.
func newHelpCmd(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND|TOPIC]",
		Short: "explain a command or a topic",
		Long:  "Explain a command or a topic. The topics are " + strings.Join(helpTopics, ", ") + ".",
		Example: `  logdir help produce
  logdir help exit-codes`,
		ValidArgs:   helpTopics,
		Annotations: about("0 2", "logdir(1)"),
		RunE: func(c *cobra.Command, args []string) error {
			return explain(env, c, args)
		},
	}
}

func explain(env *Env, c *cobra.Command, args []string) error {
	word := strings.Join(args, " ")
	if slices.Contains(helpTopics, word) {
		return printTopic(env, c.Root(), word)
	}
	if target, rest, err := c.Root().Find(args); err == nil && len(rest) == 0 {
		env.printHelp(target)
		return nil
	}
	if _, ok := topicPage(word); ok {
		return printTopic(env, c.Root(), word)
	}
	e := &usageError{cmd: c, msg: fmt.Sprintf("no help for %q", word)}
	if near := store.Nearest(word, append(subcommandNames(c.Root()), helpTopics...)); near != "" {
		e.suggestion = "logdir help " + near
	}
	return e
}

// printTopic prints a page as text, and where to find the command of the same name.
func printTopic(env *Env, root *cobra.Command, topic string) error {
	text, err := topicText(topic)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprint(env.Out, text); err != nil {
		return err
	}
	if slices.Contains(subcommandNames(root), topic) {
		env.Note("for the command of this name: logdir %s -h", topic)
	}
	return nil
}

func topicText(topic string) (string, error) {
	if topic == exitCodesTopic {
		page, _ := man.Page("logdir.1")
		return mdoc.Text(page, "EXIT STATUS")
	}
	page, _ := topicPage(topic)
	return mdoc.Text(page, "")
}

// topicPage is the source of a page of section 5 or 7.
func topicPage(topic string) (string, bool) {
	for _, section := range []string{"7", "5"} {
		if page, ok := man.Page("logdir-" + topic + "." + section); ok {
			return page, true
		}
	}
	return "", false
}
