package store

import (
	"fmt"
	"strings"
)

// Class groups errors by what the caller can do about them. The command line maps
// each class to one exit code; nothing below it knows numbers.
type Class uint8

// The classes, in the order of their exit codes.
const (
	Failed   Class = iota // input/output, permission, anything not below
	Usage                 // a bad flag, argument, name or value; nothing was written
	NotFound              // directory, topic, partition, broker, group, member, offset
	Damage                // bad bytes on disk; nothing was written
	Refused               // the state does not allow it; nothing was written
	Fenced                // somebody newer owns it: generation, epoch, sequence
	NotAcked              // written on the leader, not acknowledged
	Diverted              // written to the dead letter queue instead
	Busy                  // a lock was not had in time, or a broker runs here
)

// Error is an error that a person reads: what is wrong, Kafka's name for it, and the
// command to type next. Match with errors.AsType[*store.Error].
type Error struct {
	Class Class
	Name  string // Kafka's error name, such as UNKNOWN_TOPIC_OR_PARTITION, or ""
	Msg   string // lower case, no full stop, without the name
	Hint  string // a command or a short sentence, or ""
	cause error
}

// Errorf returns an Error of the class under Kafka's name. A %w in format is kept
// for errors.Is and errors.AsType.
func Errorf(c Class, name, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Class: c, Name: name, Msg: err.Error(), cause: err}
}

// WithHint adds the command to type next and returns e.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// Error is the message with Kafka's name behind it in parentheses, once: a message made
// from another error may end in it already.
func (e *Error) Error() string {
	name := " (" + e.Name + ")"
	if e.Name == "" || strings.HasSuffix(e.Msg, name) {
		return e.Msg
	}
	return e.Msg + name
}

// Unwrap gives what the message was made of.
func (e *Error) Unwrap() error { return e.cause }
