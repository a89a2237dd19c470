//go:build !node

package simulated

import (
	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/simulate"
)

// NewCommand returns the command of the simulator.
func NewCommand() *cobra.Command { return simulate.NewCommand() }
