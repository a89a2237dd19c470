package operate

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/session"
	"hyperscale/core/message"
	"hyperscale/runtime/ui"
	"hyperscale/runtime/ui/units"
)

// NewStatusCommand prints the state of a job or of the cluster.
func NewStatusCommand() *cobra.Command {
	var whole, asJSON bool
	cmd := &cobra.Command{
		Use:     "status [JOB]",
		Short:   "where a job, or with --cluster the cluster, stands",
		Example: "  hyperscale status JOB --gate gate-1:9000\n  hyperscale status --cluster --gate gate-1:9000 --json",
		Args: func(cmd *cobra.Command, args []string) error {
			if whole {
				return command.Exactly()(cmd, args)
			}
			if len(args) == 0 {
				return command.Usage("`%s` needs JOB, or --cluster", cmd.CommandPath())
			}
			return command.JobArgument(cmd, args)
		},
	}
	cmd.Flags().BoolVar(&whole, "cluster", false, "the cluster: its nodes and newest jobs")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	asking(cmd, func(ctx context.Context, s *session.Session, w io.Writer, args []string) error {
		if whole {
			return clusterStatus(ctx, s, w, asJSON)
		}
		return jobStatus(ctx, s, w, args[0], asJSON)
	})
	return cmd
}

func jobStatus(ctx context.Context, s *session.Session, w io.Writer, id string, asJSON bool) error {
	job, err := message.ParseJobID(id)
	if err != nil {
		return command.AsUsage(err)
	}
	answer, err := s.Ask(ctx, &message.JobQuery{Job: job})
	if err != nil {
		return err
	}
	status, ok := answer.(*message.JobStatus)
	if !ok {
		return session.Unexpected(answer)
	}
	if asJSON {
		return command.PrintJSON(w, jobView(status))
	}
	model := ui.NewModel(status.Name, &message.Plan{})
	model.Apply(status)
	_, err = fmt.Fprintf(w, "%s  %s\n%s\n", job, units.Clean(status.Name), ui.Line(model))
	return err
}
