package cmd

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// signalError is the cause of a context that a signal ended.
type signalError struct{ sig syscall.Signal }

func (e *signalError) Error() string { return "stopped by signal: " + e.sig.String() }

func (e *signalError) exitCode() int { return 128 + int(e.sig) }

// watchSignals ends the context at the first SIGINT or SIGTERM, so that a command can
// close cleanly, and the process at the second.
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
