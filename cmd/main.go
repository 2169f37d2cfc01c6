// Package cmd is the command line of logdir: it parses, calls the packages below,
// and prints what they report. Nothing here knows bytes of a log.
//
// A command is one file with an option struct, a constructor newXCmd(*Env), and a run
// method. Everything outside the process comes in through Env. version.go is the
// smallest example.
package cmd

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// Main runs one command line and returns its exit code.
func Main(args []string, env *Env) int {
	env.rawArgs = args
	cmd, err := execute(args, env)
	if closeErr := env.close(); err == nil {
		err = closeErr
	}
	env.printErrors(cmd, err)
	return exitCode(err)
}

// execute builds what the command line needs of the tree and runs it. A panic of ours
// becomes an error: Go's own exit code for it would read as "usage".
func execute(args []string, env *Env) (cmd *cobra.Command, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &panicError{value: p, stack: debug.Stack()}
		}
	}()
	root := bareRoot(env)
	word, _ := firstWord(root, args)
	plant(env, root, commandsFor(word))
	if strings.HasPrefix(word, cobra.ShellCompRequestCmd) {
		addCompletions(env, root)
	}
	if err := checkWords(root, args); err != nil {
		return err.cmd, err
	}
	root.SetArgs(args)
	return root.ExecuteContextC(context.Background())
}

// panicError is a bug of ours, with the place where it happened.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string {
	return fmt.Sprintf("internal error: %v\n%s", e.value, e.stack)
}
