package cmd

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const annotationGroup = "group"

// flagGroup puts flags under a heading of the command's help. Flags of no group come
// first; groups follow in the order in which they are made.
func flagGroup(c *cobra.Command, title string, flags ...string) {
	for _, name := range flags {
		if f := c.Flags().Lookup(name); f != nil {
			f.Annotations = map[string][]string{annotationGroup: {title}}
		}
	}
}

// printHelp writes the help of a command: what it does, examples, flags in groups,
// exit codes, what to read next.
func (e *Env) printHelp(c *cobra.Command) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nusage: %s\n", description(c), useLine(c))
	if len(c.Aliases) > 0 {
		fmt.Fprintf(&b, "alias: %s\n", strings.Join(c.Aliases, ", "))
	}
	writeSection(&b, "examples", c.Example)
	writeCommands(&b, c)
	writeFlagGroups(&b, c)
	writeExitCodes(&b, c)
	writeSection(&b, "see also", indent(c.Annotations[annotationSee]))
	fmt.Fprint(e.Out, b.String())
}

// description is the long text of a command, or its one line as a sentence.
func description(c *cobra.Command) string {
	if c.Long != "" {
		return strings.TrimSpace(c.Long)
	}
	return strings.ToUpper(c.Short[:1]) + c.Short[1:] + "."
}

func writeSection(b *strings.Builder, title, text string) {
	if text = strings.TrimRight(text, "\n"); text != "" {
		fmt.Fprintf(b, "\n%s:\n%s\n", title, text)
	}
}

func indent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("  " + line)
	}
	return b.String()
}

// writeCommands lists the subcommands, at the root under their groups.
func writeCommands(b *strings.Builder, c *cobra.Command) {
	if !c.HasSubCommands() {
		return
	}
	if len(c.Groups()) == 0 {
		writeSection(b, "commands", commandList(c.Commands()))
		return
	}
	for _, g := range c.Groups() {
		var members []*cobra.Command
		for _, sub := range c.Commands() {
			if sub.GroupID == g.ID {
				members = append(members, sub)
			}
		}
		writeSection(b, g.ID, commandList(members))
	}
}

func commandList(cmds []*cobra.Command) string {
	var b strings.Builder
	for _, c := range cmds {
		if !c.Hidden {
			fmt.Fprintf(&b, "  %-15s %s\n", c.Name(), c.Short)
		}
	}
	return b.String()
}

// writeFlagGroups lists a command's own flags by group; the global ones only at the
// root, since they are the same everywhere.
func writeFlagGroups(b *strings.Builder, c *cobra.Command) {
	if !c.HasParent() {
		writeSection(b, "global flags", flagTable(c.PersistentFlags()))
		return
	}
	order, byGroup := groupFlags(c.LocalNonPersistentFlags())
	for _, title := range order {
		writeSection(b, title, flagTable(byGroup[title]))
	}
	b.WriteString("\nglobal flags: logdir -h\n")
}

func groupFlags(flags *pflag.FlagSet) (order []string, byGroup map[string]*pflag.FlagSet) {
	byGroup = map[string]*pflag.FlagSet{}
	flags.SortFlags = false
	flags.VisitAll(func(f *pflag.Flag) {
		title := "flags"
		if g := f.Annotations[annotationGroup]; len(g) > 0 {
			title = g[0]
		}
		if f.Hidden || f.Name == "help" {
			return
		}
		if byGroup[title] == nil {
			byGroup[title] = pflag.NewFlagSet(title, pflag.ContinueOnError)
			byGroup[title].SortFlags = false
			order = append(order, title)
		}
		byGroup[title].AddFlag(f)
	})
	return order, byGroup
}

// writeExitCodes explains the codes that the command can end with.
func writeExitCodes(b *strings.Builder, c *cobra.Command) {
	var lines strings.Builder
	for field := range strings.FieldsSeq(c.Annotations[annotationExit]) {
		for _, x := range exitNames {
			if strconv.Itoa(x.code) == field {
				fmt.Fprintf(&lines, "  %-3d  %s: %s\n", x.code, x.name, x.meaning)
			}
		}
	}
	writeSection(b, "exit codes", lines.String())
}
