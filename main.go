// Command logdir reads, checks, damages and repairs Kafka-style logs on disk,
// straight on the files, without a daemon.
package main

import (
	"os"

	"logdir/cmd"
)

func main() { os.Exit(cmd.Main(os.Args[1:], cmd.OS())) }
