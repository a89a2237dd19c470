package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/core/message"
)

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print what was built, from which commit, with which Go, and the version of the protocol",
		Args:  command.Exactly(),
		RunE: command.Runs(func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "hyperscale %s, protocol %s, %s %s/%s\n", command.Version(), message.VersionText(message.Minor), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		}),
	}
}
