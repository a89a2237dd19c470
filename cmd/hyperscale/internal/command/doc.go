// Package command is what every command line of hyperscale shares: exit codes,
// kinds of flags, errors with the nearest name, signals, rows and JSON.
//
// It knows no test, no cluster and no simulator: a command of one room only keeps
// its helpers there.
//
// Source: docs/operations.md; cmd/hyperscale states CMD-2 and CMD-3, which this keeps.
//
// Invariants:
//
//	CMD-5 An error that a person can mend is a Usage and ends with exit code 2.
//
// An example of a command:
//
//	&cobra.Command{
//		Args: command.Exactly("FILE"),
//		RunE: command.Runs(func(cmd *cobra.Command, args []string) error { ... }),
//	}
//
// Read exit.go, args.go, flags.go, linux.go.
package command
