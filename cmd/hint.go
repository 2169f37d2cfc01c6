package cmd

import (
	"strings"

	"logdir/store"
)

// placed names the data directory in the commands of a hint that are about it, where the
// user named it too: typed as it stands, a hint must lead to the same data.
func (e *Env) placed(hint string) string {
	if e.Global.DataDir == "" || e.namedDataDir() == "" {
		return hint
	}
	flag := " -d " + store.ShellWord(e.namedDataDir())
	parts := strings.Split(hint, "logdir ")
	for i := range parts[1:] {
		parts[i+1] = placedCommand(parts[i+1], flag)
	}
	return strings.Join(parts, "logdir ")
}

// placedCommand puts a flag behind the name of a command, unless that has its place already
// or needs none.
func placedCommand(command, flag string) string {
	words := strings.Fields(command)
	if len(words) == 0 {
		return command
	}
	end := len(words[0])
	switch words[0] {
	case "demo", "help", "init", "config", "partition-of", "-h":
		return command
	case "broker", "dlq", "group", "topic", "txn":
		if len(words) > 1 {
			end += len(" ") + len(words[1])
		}
	}
	for _, word := range words {
		if word == "-d" || word == "-h" || strings.ContainsRune(word, '/') || word == "PATH" {
			return command
		}
	}
	return command[:end] + flag + command[end:]
}
