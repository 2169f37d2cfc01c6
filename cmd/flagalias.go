package cmd

import "github.com/spf13/pflag"

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
