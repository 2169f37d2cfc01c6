package cmd

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// Most commands leave signals alone: they end at once, and the next command copes with
// what it finds. A command that lists exit code 130 closes cleanly instead.

// signalError says that a signal ended a command that closed cleanly.
type signalError struct{ sig syscall.Signal }

func (e *signalError) Error() string { return "stopped by signal: " + e.sig.String() }

func (e *signalError) exitCode() int { return 128 + int(e.sig) }

// catchesSignals says that a command closes cleanly at a signal.
func catchesSignals(c *cobra.Command) bool {
	return slices.Contains(strings.Fields(c.Annotations[annotationExit]), strconv.Itoa(exitInterrupted))
}

// runClosing runs a command under a context that the first signal ends. The signal
// decides the exit code, whatever the command made of it; being stopped is not worth a
// message.
func runClosing(env *Env, c *cobra.Command, args []string, run runFunc) error {
	ctx, stop := watchSignals(c.Context(), env)
	defer stop()
	c.SetContext(ctx)
	err := run(c, args)
	stopped, ok := errors.AsType[*signalError](context.Cause(ctx))
	switch {
	case !ok:
		return err
	case errors.Is(err, context.Canceled):
		return stopped
	}
	return errors.Join(err, stopped)
}

// watchSignals ends the context at the first SIGINT or SIGTERM, and the process at the
// second.
func watchSignals(parent context.Context, env *Env) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	if env.Exit == nil {
		return ctx, func() { cancel(nil) }
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		for sig := range signals {
			e := &signalError{sig.(syscall.Signal)}
			if ctx.Err() != nil {
				env.Exit(e.exitCode())
			}
			cancel(e)
		}
	}()
	return ctx, func() { signal.Stop(signals); cancel(nil) }
}

// isClosedPipe says that nobody reads our output any more. The Go runtime ends the
// process itself for stdout and stderr; this is for every other writer.
func isClosedPipe(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}
