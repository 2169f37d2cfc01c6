package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"logdir/store"
)

// NewRoot builds the whole command tree.
func NewRoot(env *Env) *cobra.Command {
	root := bareRoot(env)
	plant(env, root, commands())
	return root
}

// plant puts commands below the root and gives all of them the manners of the house.
func plant(env *Env, root *cobra.Command, chosen []command) {
	for _, c := range chosen {
		sub := c.build(env)
		sub.GroupID = c.group
		root.AddCommand(sub)
	}
	adopt(env, root)
}

// bareRoot is the root with its global flags and nothing below but help.
func bareRoot(env *Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "logdir",
		Short: "read, check, damage and repair Kafka log directories, straight on the files",
		Long: `logdir is a fsck, a debugger and a laboratory for Kafka-style log directories. It has no
daemon and listens on no socket: every command opens files in a data directory, does one
thing and closes them. A broker's log.dirs folder is a data directory like any other.`,
		Example: `  logdir demo
  logdir verify-crc -d /var/lib/kafka/data`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Annotations:   about("0 2", "logdir(1)", "logdir help concepts", "logdir help exit-codes"),
	}
	showVersion := root.Flags().Bool("version", false, "print the version")
	root.RunE = func(c *cobra.Command, _ []string) error {
		if !*showVersion {
			return &usageError{cmd: c, msg: missingWord(c)}
		}
		_, err := fmt.Fprintf(env.Out, "logdir %s\n", version())
		return err
	}
	env.Global.addFlags(root.PersistentFlags())
	root.PersistentPreRunE = env.prepare
	root.SetIn(env.In)
	root.SetOut(env.Out)
	root.SetErr(env.Err)
	root.SetFlagErrorFunc(flagError)
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { env.printHelp(c) })
	root.CompletionOptions.DisableDefaultCmd = true
	help := newHelpCmd(env)
	help.GroupID = groupHelp
	root.SetHelpCommand(help)
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g, Title: g + ":"})
	}
	root.AddCommand(help)
	root.PersistentFlags().SortFlags = false
	return root
}

// adopt gives a command and everything below it the manners of the house: a parent
// without a word of its own is a usage error, and what fails before a command's own
// code runs is one too.
func adopt(env *Env, c *cobra.Command) {
	c.Flags().SortFlags = false
	if c.RunE == nil {
		c.RunE = func(c *cobra.Command, _ []string) error { return &usageError{cmd: c, msg: missingWord(c)} }
		c.Args = cobra.NoArgs
	}
	spell(c)
	check, run := c.Args, c.RunE
	with := argumentFlag(c)
	c.Args = func(c *cobra.Command, args []string) error { return argsError(c, check, with(args)) }
	c.RunE = func(c *cobra.Command, args []string) error {
		env.started, args = true, with(args)
		if catchesSignals(c) {
			return runClosing(env, c, args, run)
		}
		return run(c, args)
	}
	for _, sub := range c.Commands() {
		adopt(env, sub)
	}
}

// runFunc is what a command does.
type runFunc = func(*cobra.Command, []string) error

// about annotates a command with its exit codes and with what to read next.
func about(exit string, see ...string) map[string]string {
	a := map[string]string{annotationExit: exit}
	for _, s := range see {
		a[annotationSee] += s + "\n"
	}
	return a
}

const (
	annotationExit = "exit" // exit codes, separated by blanks
	annotationSee  = "see"  // what to read next, a line each
)

// usagef is an error about a flag, an argument or a value: exit code 2.
func usagef(format string, args ...any) *store.Error {
	return store.Errorf(store.Usage, "INVALID_REQUEST", format, args...)
}
