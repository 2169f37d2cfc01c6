package cmd

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"logdir/cmd/internal/render"
)

// configOptions are the flags of "logdir config".
type configOptions struct{ all bool }

func newConfigCmd(env *Env) *cobra.Command {
	var o configOptions
	c := &cobra.Command{
		Use:   "config",
		Short: "show every setting and where its value is from",
		Long: `Show the settings in force and where each comes from: the command line (flag), the
environment (env), the settings file (file), or the program (default). Global settings
are always listed, those of single commands when something sets them.`,
		Example: `  logdir config
  LOGDIR_PRODUCE_ACKS=all logdir config --json`,
		Args:        cobra.NoArgs,
		Annotations: about("0 1 2 3", "logdir-config(5)"),
		RunE: func(c *cobra.Command, _ []string) error {
			env.warnOfVariables()
			return env.Print(o.report(env, c))
		},
	}
	c.Flags().BoolVar(&o.all, "all", false, "also the defaults of every command's flags")
	return c
}

// report has a row for each setting.
func (o configOptions) report(env *Env, c *cobra.Command) render.Report {
	t := render.Table{Columns: []string{"SETTING", "VALUE", "SOURCE"}}
	visitSettings(c.Root(), func(owner *cobra.Command, f *pflag.Flag) {
		value, source := env.settings.explain(owner, f)
		if owner.HasParent() && source == "default" && !o.all {
			return
		}
		t.Rows = append(t.Rows, []any{settingKey(owner, f), value, source})
	})
	return t
}

// explain is the value of a flag, and whether flag, env, file or default set it.
func (s *settings) explain(owner *cobra.Command, f *pflag.Flag) (value, source string) {
	if f.Changed && !s.applied[f] {
		return flagText(f), "flag"
	}
	values, from := s.lookup(owner, f)
	if from.kind == "" {
		return flagText(f), "default"
	}
	return strings.Join(values, ","), from.kind
}

// flagText is a flag's value without the brackets that pflag puts around lists.
func flagText(f *pflag.Flag) string {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return strings.Join(list.GetSlice(), ",")
	}
	return f.Value.String()
}
