package cmd

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// argumentFlag makes --topic or --group, as Kafka's tools have them, hidden spellings of a
// command's first argument, and returns how its arguments then read. A command that has
// such a flag of its own keeps it.
func argumentFlag(c *cobra.Command) func(args []string) []string {
	name, shorthand := "topic", "t"
	_, first, _ := strings.Cut(c.Use, " ")
	switch first = strings.TrimPrefix(first, "["); {
	case strings.HasPrefix(first, "TOPIC"), strings.HasPrefix(first, "TARGET"):
	case strings.HasPrefix(first, "GROUP"):
		name, shorthand = "group", "g"
	default:
		name = ""
	}
	fs := c.Flags()
	if name == "" || fs.Lookup(name) != nil || fs.ShorthandLookup(shorthand) != nil {
		return func(args []string) []string { return args }
	}
	var given []string
	fs.StringArrayVarP(&given, name, shorthand, nil, "as the first argument")
	fs.Lookup(name).Hidden = true
	return func(args []string) []string { return append(given[:len(given):len(given)], args...) }
}

// alias makes name a hidden spelling of the flag target: setting it sets the other.
func alias(fs *pflag.FlagSet, name, target string) {
	f := fs.Lookup(target)
	fs.AddFlag(&pflag.Flag{
		Name: name, Hidden: true, NoOptDefVal: f.NoOptDefVal,
		Usage: "as --" + target, Value: aliasValue{fs, f},
	})
}

// aliasValue hands on what it is given, so that the target counts as given too.
type aliasValue struct {
	fs     *pflag.FlagSet
	target *pflag.Flag
}

func (a aliasValue) String() string     { return "" }
func (a aliasValue) Type() string       { return a.target.Value.Type() }
func (a aliasValue) Set(s string) error { return a.fs.Set(a.target.Name, s) }
