package cmd

import (
	"github.com/spf13/cobra"

	"logdir/inspect"
)

// dumpDecoders are the flags that choose a decoder of an internal topic.
type dumpDecoders struct{}

func (d *dumpDecoders) addFlags(*cobra.Command) {}

// any says whether a flag names a decoder.
func (d *dumpDecoders) any() bool { return false }

// choose makes the decoder of a file; nil if none is asked for.
func (d *dumpDecoders) choose(bool) func(*inspect.DumpFile) inspect.Decoder { return nil }
