//go:build !node

package main

import (
	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/simulate"
)

func newSimCommand() *cobra.Command { return simulate.NewCommand() }
