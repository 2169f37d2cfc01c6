package cmd

import "github.com/spf13/cobra"

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

// command is one line of the table of commands.
type command struct {
	group string
	build func(*Env) *cobra.Command
}

// commands is the whole tree, one line per top-level command.
func commands() []command {
	return []command{
		{groupHelp, newConfigCmd},
		{groupHelp, newVersionCmd},
	}
}
