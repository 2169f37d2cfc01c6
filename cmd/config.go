package cmd

import "github.com/spf13/cobra"

// settings remembers where the value of each flag came from.
type settings struct{}

func (e *Env) loadSettings(*cobra.Command) error { return nil }
