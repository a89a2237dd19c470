package operate

import (
	"context"
	"io"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/session"
	"hyperscale/core/message"
)

// standing is one gate's view of its cluster.
type standing struct {
	cluster *message.ClusterStatus
	nodes   *message.StatusList
}

func askStanding(ctx context.Context, s *session.Session) (standing, error) {
	var all standing
	answer, err := s.Ask(ctx, &message.ClusterQuery{})
	if err != nil {
		return all, err
	}
	var ok bool
	if all.cluster, ok = answer.(*message.ClusterStatus); !ok {
		return all, session.Unexpected(answer)
	}
	if answer, err = s.Ask(ctx, &message.StatusQuery{}); err != nil {
		return all, err
	}
	if all.nodes, ok = answer.(*message.StatusList); !ok {
		return all, session.Unexpected(answer)
	}
	return all, nil
}

// nameOf is the gate at an address, which is all that is known of one never heard.
func (s standing) nameOf(address string) string {
	for _, m := range s.cluster.Members {
		if m.Addr == address && m.Node != "" {
			return m.Node
		}
	}
	return address
}

// answer is what a command does with a connection.
type answer = func(ctx context.Context, s *session.Session, w io.Writer, args []string) error

// asking makes a command that connects to gates' own ports, asks and prints.
func asking(cmd *cobra.Command, f answer) *cobra.Command {
	return connecting(cmd, (*session.Flags).Add, f)
}

// AskingBoth makes one that the HTTP API serves, too.
func AskingBoth(cmd *cobra.Command, f answer) *cobra.Command {
	return connecting(cmd, (*session.Flags).AddBoth, f)
}

func connecting(cmd *cobra.Command, add func(*session.Flags, *cobra.Command), f answer) *cobra.Command {
	var (
		gate session.Flags
		log  command.LogFlags
	)
	cmd.RunE = command.Runs(func(cmd *cobra.Command, args []string) error {
		ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
		defer stop()
		gate.Note = func(format string, args ...any) { cmd.PrintErrf(format+"\n", args...) }
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
	add(&gate, cmd)
	log.Add(cmd.Flags(), "error")
	return cmd
}
