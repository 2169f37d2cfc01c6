package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/render"
	"logdir/store"
	"logdir/store/corrupt"
	"logdir/store/vfs"
)

// The exit codes. They are part of the interface; only this file knows them.
const (
	exitOK       = 0
	exitError    = 1
	exitUsage    = 2
	exitNotFound = 3
	exitDamage   = 4
	exitRefused  = 5
	exitFenced   = 6
	exitNotAcked = 7
	exitDiverted = 8
	exitBusy     = 9
	exitCrash    = 99

	exitInterrupted = 130
	exitPipe        = 141
)

// exitNames explains each code, for help and the manual.
var exitNames = []struct {
	code          int
	name, meaning string
}{
	{exitOK, "ok", "done as asked"},
	{exitError, "error", "input/output, permission, anything not below"},
	{exitUsage, "usage", "bad flag, argument, name or value; nothing was written"},
	{exitNotFound, "not found", "no such directory, topic, partition, broker, group, member or offset"},
	{exitDamage, "damage", "bad CRC, torn frame, bad index, diverged replicas, missing records"},
	{exitRefused, "refused", "the state does not allow it, or a confirmation is missing; nothing was written"},
	{exitFenced, "fenced", "a newer generation, epoch or sequence owns it; nothing was written"},
	{exitNotAcked, "not acknowledged", "written on the leader, but not acknowledged"},
	{exitDiverted, "diverted", "some records went to the dead letter queue"},
	{exitBusy, "busy", "a lock was not had in time, or a broker runs on the directory"},
	{exitCrash, "simulated crash", "a failpoint or --crash-after fired"},
	{exitInterrupted, "interrupted", "stopped by Ctrl-C (SIGINT)"},
	{exitPipe, "closed pipe", "the reader of the output went away (SIGPIPE)"},
	{143, "terminated", "stopped by SIGTERM"},
}

// classCodes maps what a caller can do about an error to its code.
var classCodes = map[store.Class]int{
	store.Failed: exitError, store.Usage: exitUsage, store.NotFound: exitNotFound,
	store.Damage: exitDamage, store.Refused: exitRefused, store.Fenced: exitFenced,
	store.NotAcked: exitNotAcked, store.Diverted: exitDiverted, store.Busy: exitBusy,
}

// exitCode is the highest code of all errors in err.
func exitCode(err error) int {
	code := exitOK
	for _, e := range split(err) {
		code = max(code, codeOf(e))
	}
	return code
}

// codeOf is the only switch from errors to codes.
func codeOf(err error) int {
	if _, ok := errors.AsType[*crashError](err); ok {
		return exitCrash
	}
	if _, ok := errors.AsType[*usageError](err); ok {
		return exitUsage
	}
	if e, ok := errors.AsType[*signalError](err); ok {
		return e.exitCode()
	}
	if isClosedPipe(err) {
		return exitPipe
	}
	if _, ok := errors.AsType[*verdictError](err); ok {
		return exitDamage
	}
	if e, ok := errors.AsType[*store.Error](err); ok {
		return classCodes[e.Class]
	}
	if _, ok := errors.AsType[*corrupt.Error](err); ok {
		return exitDamage
	}
	if errors.Is(err, vfs.ErrLocked) {
		return exitBusy
	}
	return exitError
}

// split takes apart what errors.Join put together: several items failed, and each is
// reported.
func split(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || !isJoin(err, joined.Unwrap()) {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, split(e)...)
	}
	return all
}

// isJoin tells errors.Join from an fmt.Errorf with several %w: the text of a join is
// its parts, a line each.
func isJoin(err error, parts []error) bool {
	lines := make([]string, len(parts))
	for i, p := range parts {
		lines[i] = p.Error()
	}
	return err.Error() == strings.Join(lines, "\n")
}

// problem is an error as it is shown.
type problem struct {
	name, message, hint string
	exit                int
}

// describe takes one error apart for showing.
func describe(err error) problem {
	p := problem{message: err.Error(), exit: codeOf(err)}
	if e, ok := errors.AsType[*store.Error](err); ok {
		p.name, p.hint = e.Name, e.Hint
	} else {
		p.name = kafkaName(err, p.exit)
	}
	p.message = strings.TrimSuffix(p.message, " ("+p.name+")")
	return p
}

// kafkaName is Kafka's name for an error that does not carry one, or "" where Kafka has
// none.
func kafkaName(err error, exit int) string {
	if e, ok := errors.AsType[*corrupt.Error](err); ok {
		return e.Kind.KafkaName()
	}
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return "KAFKA_STORAGE_ERROR"
	}
	switch exit {
	case exitUsage:
		return "INVALID_REQUEST"
	case exitCrash:
		return ""
	}
	return "UNKNOWN_SERVER_ERROR"
}

// printErrors writes one line for each error, and its hint; with --json one object.
func (e *Env) printErrors(cmd *cobra.Command, err error) {
	told := map[problem]bool{}
	hint := "" // of the errors so far; said once behind several that share it
	for _, err := range split(err) {
		p := describe(err)
		p.hint = e.placed(p.hint)
		if p.exit >= exitInterrupted || told[p] {
			continue // being stopped, or having no reader, is not worth a message; nor is saying it twice
		}
		told[p] = true
		if e.wantsJSON() {
			e.Err.Write(p.appendJSON(nil))
			continue
		}
		if p.hint != hint {
			e.hintAt(hint)
			hint = p.hint
		}
		if v, ok := errors.AsType[*verdictError](err); ok {
			e.Tell("%s", v.verdict)
			continue
		}
		fmt.Fprintf(e.Err, "logdir: %s\n", p)
		if u, ok := errors.AsType[*usageError](err); ok && cmd != nil {
			e.printUsage(u, cmd)
		}
	}
	e.hintAt(hint)
}

func (e *Env) hintAt(hint string) {
	if hint != "" {
		e.Hint("%s", hint)
	}
}

// String is the message with Kafka's name behind it.
func (p problem) String() string {
	if p.name == "" {
		return p.message
	}
	return p.message + " (" + p.name + ")"
}

// appendJSON writes the error as one line of JSON.
func (p problem) appendJSON(dst []byte) []byte {
	dst = appendNullable(append(dst, `{"error":`...), p.name)
	dst = render.AppendJSONString(append(dst, `,"message":`...), p.message)
	dst = fmt.Appendf(dst, `,"exit":%d,"hint":`, p.exit)
	return append(appendNullable(dst, p.hint), "}\n"...)
}

func appendNullable(dst []byte, s string) []byte {
	if s == "" {
		return append(dst, "null"...)
	}
	return render.AppendJSONString(dst, s)
}

// wantsJSON also holds when parsing failed before --json was seen.
func (e *Env) wantsJSON() bool {
	if e.JSON() {
		return true
	}
	if e.started {
		return false
	}
	for i, arg := range e.rawArgs {
		switch {
		case arg == "-J", arg == "--json", arg == "--output=json":
			return true
		case arg == "--output" && i+1 < len(e.rawArgs):
			return e.rawArgs[i+1] == render.JSON
		case arg == "--":
			return false
		}
	}
	return false
}
