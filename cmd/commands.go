package cmd

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// The groups of the command list, in the order of the help text.
const (
	groupLab         = "lab"
	groupData        = "data path"
	groupReplication = "replication"
	groupInspection  = "inspection"
	groupDamage      = "damage"
	groupRepair      = "repair"
	groupLive        = "live"
	groupUpkeep      = "upkeep"
	groupLoad        = "load"
	groupHelp        = "help"
)

var groups = []string{
	groupLab, groupData, groupReplication, groupInspection, groupDamage,
	groupRepair, groupLive, groupUpkeep, groupLoad, groupHelp,
}

// command is one line of the table of commands. The name stands here so that only the
// command that is asked for need be built.
type command struct {
	group string
	name  string // the name, then aliases, separated by blanks
	build func(*Env) *cobra.Command
}

// commands is the whole tree, one line per top-level command, in the order of the help
// text.
func commands() []command {
	return []command{
		{groupLab, "init", newInitCmd},
		{groupLab, "info", newInfoCmd},
		{groupLab, "topic", newTopicCmd},
		{groupLab, "broker", newBrokerCmd},
		{groupLab, "demo", newDemoCmd},
		{groupData, "produce", newProduceCmd},
		{groupData, "fetch consume", newFetchCmd},
		{groupData, "offsets get-offsets", newOffsetsCmd},
		{groupData, "group", newGroupCmd},
		{groupData, "dlq", newDLQCmd},
		{groupData, "txn", newTxnCmd},
		{groupReplication, "replicate", newReplicateCmd},
		{groupReplication, "promote", newPromoteCmd},
		{groupReplication, "diff", newDiffCmd},
		{groupInspection, "segments ls", newSegmentsCmd},
		{groupInspection, "dump-segment", newDumpSegmentCmd},
		{groupInspection, "verify-crc", newVerifyCRCCmd},
		{groupInspection, "check", newCheckCmd},
		{groupInspection, "txns", newTxnsCmd},
		{groupDamage, "corrupt-tail", newCorruptTailCmd},
		{groupRepair, "recover", newRecoverCmd},
		{groupRepair, "undo", newUndoCmd},
		{groupRepair, "salvage", newSalvageCmd},
		{groupRepair, "reindex", newReindexCmd},
		{groupRepair, "truncate", newTruncateCmd},
		{groupLive, "export", newExportCmd},
		{groupLive, "import", newImportCmd},
		{groupUpkeep, "roll", newRollCmd},
		{groupUpkeep, "retention", newRetentionCmd},
		{groupUpkeep, "compact", newCompactCmd},
		{groupUpkeep, "delete-records", newDeleteRecordsCmd},
		{groupLoad, "simulate", newSimulateCmd},
		{groupHelp, "partition-of", newPartitionOfCmd},
		{groupHelp, "config", newConfigCmd},
		{groupHelp, "completion", newCompletionCmd},
		{groupHelp, "version", newVersionCmd},
	}
}

// commandsFor is the one command that word names. It is all of them for a word that
// names none, when somebody looks for a command, and for config, which shows all.
func commandsFor(word string) []command {
	all := commands()
	if word == "" || word == "config" {
		return all
	}
	for i, c := range all {
		if slices.Contains(strings.Fields(c.name), word) {
			return all[i : i+1]
		}
	}
	return all
}
