package web

import (
	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/runtime/api/compile"
)

// NewCompileCommand is the command that a gate starts for each program that comes over HTTP; it is not for users.
func NewCompileCommand() *cobra.Command {
	return &cobra.Command{
		Use:    compile.Command,
		Short:  "make the plan of one program, for a gate",
		Hidden: true,
		Args:   command.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return compile.Main(cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
}
