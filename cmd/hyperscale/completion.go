package main

import (
	"github.com/spf13/cobra"
	"hyperscale/cmd/hyperscale/internal/command"
)

func newCompletionCommand() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:       "completion bash|zsh|fish|powershell",
		Short:     "print a completion script for a shell",
		Example:   "  source <(hyperscale completion bash)",
		Args:      command.Exactly("SHELL"),
		ValidArgs: shells,
		RunE: command.Runs(func(cmd *cobra.Command, args []string) error {
			root, out := cmd.Root(), cmd.OutOrStdout()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(out)
			}
			return command.Usage("no completion for %q%s: choose bash, zsh, fish or powershell", args[0], command.DidYouMean(args[0], shells))
		}),
	}
}
