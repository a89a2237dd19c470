package main

import (
	"fmt"
	"hyperscale/cmd/hyperscale/internal/command"
	"runtime"

	"github.com/spf13/cobra"
)

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print what was built, from which commit, with which Go",
		Args:  command.Exactly(),
		RunE: command.Runs(func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "hyperscale %s %s %s/%s\n", command.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		}),
	}
}
