package operate

import (
	"context"
	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/session"
	"io"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// asking makes a command that connects, asks and prints.
func asking(cmd *cobra.Command, f func(ctx context.Context, s *session.Session, w io.Writer, args []string) error) *cobra.Command {
	var (
		gate session.Flags
		log  command.LogFlags
	)
	cmd.RunE = command.Runs(func(cmd *cobra.Command, args []string) error {
		ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
		defer stop()
		s, err := session.Dial(&gate, log.Logger(cmd.ErrOrStderr()))
		if err != nil {
			return err
		}
		defer s.Close()
		err = f(ctx, s, cmd.OutOrStdout(), args)
		if err != nil && ctx.Err() != nil {
			return command.Exit(command.ExitInterrupted, nil)
		}
		return err
	})
	gate.Add(cmd)
	log.Add(cmd.Flags(), "error")
	return cmd
}
