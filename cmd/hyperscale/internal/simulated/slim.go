//go:build node

package simulated

import (
	"runtime"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
)

// NewCommand says where the simulator is: with its worlds it is a twelfth of the binary, and no container needs it.
func NewCommand() *cobra.Command {
	return &cobra.Command{
		Use:                "sim",
		Short:              "the binary of the image has no simulator",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return command.Usage("sim: this is the binary of the image, which has no simulator: use the whole one, hyperscale-%s-%s of the release", runtime.GOOS, runtime.GOARCH)
		},
	}
}
