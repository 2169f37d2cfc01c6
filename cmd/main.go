// Package cmd is the command line of logdir.
package cmd

// Env is what a command may touch outside itself.
type Env struct{}

// OS is the real environment of the process.
func OS() *Env { return &Env{} }

// Main runs one command line and returns its exit code.
func Main(_ []string, _ *Env) int { return 0 }
