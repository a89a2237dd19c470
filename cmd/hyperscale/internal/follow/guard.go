package follow

import (
	"os"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/runtime/ui/console"
)

// guardCommand is the name of the process that restores the terminal of one that
// died.
const guardCommand = "terminal-guard"

// NewGuardCommand restores a terminal; a Follower starts it together with a live screen.
func NewGuardCommand() *cobra.Command {
	return &cobra.Command{
		Use:    guardCommand,
		Short:  "puts the terminal back when its screen's process dies, started by it",
		Hidden: true,
		Args:   command.Exactly(),
		RunE:   command.Runs(func(*cobra.Command, []string) error { return console.GuardMain(os.Stdin, os.Stderr) }),
	}
}
