package main

import (
	"os"

	"github.com/spf13/cobra"

	"hyperscale/runtime/ui"
)

// guardCommand is the name of the process that restores the terminal of one that
// died.
const guardCommand = "terminal-guard"

func newGuardCommand() *cobra.Command {
	return &cobra.Command{
		Use:    guardCommand,
		Short:  "puts the terminal back when its screen's process dies, started by it",
		Hidden: true,
		Args:   exactly(),
		RunE:   runs(func(*cobra.Command, []string) error { return ui.GuardMain(os.Stdin, os.Stderr) }),
	}
}
