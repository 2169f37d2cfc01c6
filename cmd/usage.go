package cmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"logdir/store"
)

// usageError is a command line that cannot be run: an unknown word, flag or value, a
// missing argument. It is shown with the usage line and two examples.
type usageError struct {
	cmd        *cobra.Command
	msg        string
	suggestion string // what was probably meant, or ""
}

func (e *usageError) Error() string { return e.msg }

// printUsage shows how the command is called.
func (e *Env) printUsage(u *usageError, cmd *cobra.Command) {
	if u.cmd != nil {
		cmd = u.cmd
	}
	fmt.Fprintf(e.Err, "usage: %s\n", useLine(cmd))
	for _, example := range firstLines(cmd.Example, 2) {
		fmt.Fprintln(e.Err, example)
	}
	if u.suggestion != "" {
		e.Hint("did you mean %s?", u.suggestion)
		return
	}
	var commands strings.Builder
	writeCommands(&commands, cmd)
	fmt.Fprint(e.Err, commands.String())
	e.Hint("%s -h", cmd.CommandPath())
}

// useLine is the usage of a command: its path, arguments and "[flags]".
func useLine(c *cobra.Command) string {
	if c.HasSubCommands() && c.HasParent() {
		return c.CommandPath() + " COMMAND [flags]"
	}
	if !c.HasParent() {
		return "logdir COMMAND [flags]"
	}
	return c.Parent().CommandPath() + " " + c.Use + " [flags]"
}

func firstLines(text string, n int) []string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return lines[:min(n, len(lines))]
}

// checkWords looks for a word that names no command before flags are looked at: a
// misspelt command would otherwise be blamed on its flags.
func checkWords(root *cobra.Command, args []string) *usageError {
	c, rest, err := root.Find(args)
	if err != nil || !c.HasSubCommands() {
		return nil
	}
	if e := flagForWord(c, rest); c.HasParent() && e != nil {
		return e
	}
	word, ok := firstWord(c, rest)
	if !ok || strings.HasPrefix(word, cobra.ShellCompRequestCmd) {
		return nil
	}
	e := &usageError{cmd: c, msg: fmt.Sprintf("%q is not a command of %s", word, c.CommandPath())}
	if ours, ok := kafkaTool(word); ok && !c.HasParent() {
		e.suggestion = c.CommandPath() + " " + ours
		return e
	}
	if near := store.Nearest(word, subcommandNames(c)); near != "" {
		e.suggestion = c.CommandPath() + " " + near
	}
	return e
}

// firstWord is the first argument that is neither a flag nor a flag's value.
func firstWord(c *cobra.Command, args []string) (string, bool) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			return "", false
		case !strings.HasPrefix(arg, "-") || arg == "-":
			return arg, true
		case takesNext(c, arg):
			i++
		}
	}
	return "", false
}

// takesNext says that a flag has its value in the next argument.
func takesNext(c *cobra.Command, arg string) bool {
	if strings.Contains(arg, "=") {
		return false
	}
	var f *pflag.Flag
	if name, long := strings.CutPrefix(arg, "--"); long {
		f = c.Root().PersistentFlags().Lookup(name)
	} else if len(arg) == 2 {
		f = c.Root().PersistentFlags().ShorthandLookup(arg[1:])
	}
	return f != nil && f.NoOptDefVal == ""
}

// subcommandNames lists the commands of c that a user may type, with aliases.
func subcommandNames(c *cobra.Command) []string {
	var names []string
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			names = append(names, sub.Name())
			names = append(names, sub.Aliases...)
		}
	}
	return names
}

// missingWord is said when a command that only groups others stands alone.
func missingWord(c *cobra.Command) string { return c.CommandPath() + " needs a command" }

// argsError checks the positional arguments with the command's own check.
func argsError(c *cobra.Command, check cobra.PositionalArgs, args []string) error {
	if check == nil {
		return nil
	}
	err := check(c, args)
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*store.Error](err); ok {
		return err
	}
	msg, _, _ := strings.Cut(err.Error(), "\n")                                       // one thing at a time
	if strings.Contains(msg, "arg(s)") || strings.HasPrefix(msg, "unknown command") { // cobra's own words
		msg = miscounted(c, args)
	}
	return &usageError{cmd: c, msg: msg}
}

// miscounted says which argument of the usage line is missing, or which one is not in it.
func miscounted(c *cobra.Command, args []string) string {
	wanted, _, _ := strings.Cut(c.Use, " -")
	words := strings.Fields(wanted)[1:]
	required := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return strings.HasPrefix(w, "[") })
	switch {
	case slices.Contains(words, "|"): // one form or another
	case len(args) < len(required):
		return fmt.Sprintf("%s: %s is missing", c.CommandPath(), strings.TrimSuffix(required[len(args)], "..."))
	case len(args) > len(words):
		return fmt.Sprintf("%s: unexpected argument %q", c.CommandPath(), args[len(words)])
	}
	return fmt.Sprintf("%s: wrong number of arguments: %d", c.CommandPath(), len(args))
}

// flagError turns what pflag says into a usage error, with the nearest flag.
func flagError(c *cobra.Command, err error) error {
	if e, ok := errors.AsType[*store.Error](err); ok {
		return e
	}
	e := &usageError{cmd: c, msg: err.Error()}
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		if near := store.Nearest(unknown.GetSpecifiedName(), flagNames(c)); near != "" {
			e.suggestion = "--" + near
		}
	}
	return e
}

func flagNames(c *cobra.Command) []string {
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return names
}
