package cmd

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/render"
)

func newVersionCmd(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print the version of this program",
		Long: `Print the version, the Go release it was built with and the platform. The version is
that of the module, or the commit when built from a checkout.`,
		Example: `  logdir version
  logdir version --json`,
		Args:        cobra.NoArgs,
		Annotations: about("0 1 2"),
		RunE: func(*cobra.Command, []string) error {
			return env.Print(versionReport())
		},
	}
}

func versionReport() render.Report {
	return render.Fields{
		{Name: "version", Value: version()},
		{Name: "go", Value: runtime.Version()},
		{Name: "platform", Value: runtime.GOOS + "/" + runtime.GOARCH},
	}
}

// version is the module's version, else the commit it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return "devel-" + s.Value[:min(12, len(s.Value))]
		}
	}
	return "devel"
}
