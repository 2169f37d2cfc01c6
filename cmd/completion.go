package cmd

import (
	"github.com/spf13/cobra"
)

func newCompletionCmd(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "print a script that completes words in your shell",
		Long: `Print a completion script. It completes commands, flags and their values, and topics,
partitions, brokers and groups of the data directory.`,
		Example: `  source <(logdir completion bash)
  logdir completion zsh > "${fpath[1]}/_logdir"
  logdir completion fish > ~/.config/fish/completions/logdir.fish`,
		Args:        cobra.ExactArgs(1),
		ValidArgs:   []string{"bash", "zsh", "fish", "powershell"},
		Annotations: about("0 1 2"),
		RunE: func(c *cobra.Command, args []string) error {
			return writeCompletion(env, c.Root(), args[0])
		},
	}
}

func writeCompletion(env *Env, root *cobra.Command, shell string) error {
	switch shell {
	case "bash":
		return root.GenBashCompletionV2(env.Out, true)
	case "zsh":
		return root.GenZshCompletion(env.Out)
	case "fish":
		return root.GenFishCompletion(env.Out, true)
	case "powershell":
		return root.GenPowerShellCompletionWithDesc(env.Out)
	}
	return usagef("no completion for the shell %q", shell).WithHint("one of bash zsh fish powershell")
}
