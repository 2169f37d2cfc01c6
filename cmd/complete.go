package cmd

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/group"
)

// Completion is wired up only when a shell asks for words. It reads cluster.json or
// lists one folder, takes no lock, and says nothing when that fails.

// addCompletions gives every command of the tree its words, by what its usage line and
// its flags say of themselves.
func addCompletions(env *Env, root *cobra.Command) {
	visitCommands(root, func(c *cobra.Command) {
		if c.ValidArgsFunction == nil && len(c.ValidArgs) == 0 {
			c.ValidArgsFunction = argWords(env, c.Use)
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			_, f.Usage = pflag.UnquoteUsage(f)
			if words := flagWords(env, c, f); words != nil {
				// An error only says that the command has words of its own.
				_ = c.RegisterFlagCompletionFunc(f.Name, words)
			}
		})
	})
}

// argWords completes what stands for arguments in a usage line.
func argWords(env *Env, use string) cobra.CompletionFunc {
	otherwise := cobra.ShellCompDirectiveNoFileComp
	if strings.Contains(use, "FILE") || strings.Contains(use, "PATH") {
		otherwise = cobra.ShellCompDirectiveDefault
	}
	if strings.Contains(use, "GROUP") {
		return groupWords(env)
	}
	if !strings.Contains(use, "TOPIC") && !strings.Contains(use, "TARGET") {
		return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) { return nil, otherwise }
	}
	return func(c *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
		return targetWords(env.placesFor(c), word), otherwise
	}
}

// groupWords completes the name of a group.
func groupWords(env *Env) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 || env.prepare(c, nil) != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return startingWith(group.ListGroups(env.FS, env.Global.DataDir), word), cobra.ShellCompDirectiveNoFileComp
	}
}

// memberWords completes the name of a member of the group that is named.
func memberWords(env *Env) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		of := c.Flags().Lookup("group").Value.String()
		if of == "" && len(args) == 1 {
			of = args[0]
		}
		if env.prepare(c, nil) != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return startingWith(group.ListMembers(env.FS, env.Global.DataDir, of), word), cobra.ShellCompDirectiveNoFileComp
	}
}

// placesFor lists the partitions of the data directory, or none.
func (e *Env) placesFor(c *cobra.Command) []store.PartitionRef {
	if e.prepare(c, nil) != nil {
		return nil
	}
	dir, err := store.Detect(e.FS, e.Global.DataDir)
	if err != nil {
		return nil
	}
	refs, err := dir.AllPartitions()
	if err != nil {
		return nil
	}
	return refs
}

// brokerWords completes the number of a broker.
func (e *Env) brokerWords(c *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	if e.prepare(c, nil) != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	m, err := cluster.ReadMeta(e.FS, e.Global.DataDir)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var words []string
	for _, b := range m.Brokers {
		words = append(words, strconv.Itoa(int(b.ID)))
	}
	return startingWith(words, word), cobra.ShellCompDirectiveNoFileComp
}

// targetWords are the ways to go on with a target: topics, behind a colon partitions,
// behind an at sign brokers.
func targetWords(refs []store.PartitionRef, word string) []string {
	topic, rest, hasParts := strings.Cut(word, ":")
	place, _, hasBroker := strings.Cut(word, "@")
	var words []string
	for _, r := range refs {
		switch {
		case hasBroker && placeHas(place, r):
			words = append(words, place+"@"+strconv.Itoa(int(r.Broker)))
		case !hasBroker && hasParts && r.Topic == topic:
			before := rest[:strings.LastIndexByte(rest, ',')+1]
			words = append(words, topic+":"+before+strconv.Itoa(int(r.Partition)))
		case !hasBroker && !hasParts:
			words = append(words, r.Topic)
		}
	}
	return startingWith(words, word)
}

// placeHas says that a target, so far without a broker, names the partition.
func placeHas(place string, r store.PartitionRef) bool {
	t, err := store.ParseTarget(place)
	return err == nil && t.Topic == r.Topic && t.Has(r.Partition)
}

// startingWith sorts words out that begin otherwise, and second copies.
func startingWith(words []string, prefix string) []string {
	words = slices.DeleteFunc(words, func(w string) bool { return !strings.HasPrefix(w, prefix) })
	slices.Sort(words)
	return slices.Compact(words)
}

// flagWords completes the value of a flag; nil leaves it to the shell.
func flagWords(env *Env, c *cobra.Command, f *pflag.Flag) cobra.CompletionFunc {
	if e, ok := f.Value.(interface{ Words() []string }); ok {
		return cobra.FixedCompletions(e.Words(), cobra.ShellCompDirectiveNoFileComp)
	}
	switch {
	case f.Name == "failpoint":
		return cobra.FixedCompletions(store.FailpointNames, cobra.ShellCompDirectiveNoFileComp)
	case f.Name == "data-dir", f.Name == "quarantine", f.Name == "import":
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	case f.Name == "topic":
		return argWords(env, "TOPIC")
	case f.Name == "group":
		return groupWords(env)
	case f.Name == "member":
		return memberWords(env)
	case f.Name == "only", f.Name == "except", f.Name == "to" && c.Name() == "promote":
		return env.brokerWords
	case f.Name == "config" && c.HasParent():
		return configWords
	case f.Name == "delete-config":
		return cobra.FixedCompletions(cluster.ConfigNames(), cobra.ShellCompDirectiveNoFileComp)
	}
	return nil
}

// configWords completes NAME=VALUE of a topic: names, then the words a value may be.
func configWords(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	name, _, hasValue := strings.Cut(word, "=")
	var words []string
	for _, def := range cluster.Configs {
		if !hasValue {
			words = append(words, def.Name+"=")
			continue
		}
		for _, choice := range def.Choices {
			if def.Name == name {
				words = append(words, name+"="+choice)
			}
		}
	}
	return startingWith(words, word), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
