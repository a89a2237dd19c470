package operate

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/session"
	"hyperscale/core/message"
	"hyperscale/runtime/report"
	"hyperscale/runtime/ui"
	"hyperscale/runtime/ui/units"
	"hyperscale/runtime/view"
)

// NewStatusCommand prints the state of a job or of the cluster.
func NewStatusCommand() *cobra.Command {
	var (
		whole, details, asJSON bool
		query                  message.JobQuery
	)
	cmd := &cobra.Command{
		Use:     "status [JOB]",
		Short:   "where a job, or with --cluster the cluster, stands",
		Example: "  hyperscale status JOB --gate gate-1:9000\n  hyperscale status JOB --details --datacenter fra --workflow soak --gate gate-1:9000\n  hyperscale status --cluster --gate gate-1:9000 --json",
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case !details && query != (message.JobQuery{}):
				return command.Usage("--datacenter and --workflow narrow --details: add it, or leave them out")
			case whole && details:
				return command.Usage("--details are of a job, and --cluster shows none: leave one of them out")
			case whole:
				return command.Exactly()(cmd, args)
			}
			if len(args) == 0 {
				return command.Usage("`%s` needs JOB, or --cluster", cmd.CommandPath())
			}
			return command.JobArgument(cmd, args)
		},
	}
	cmd.Flags().BoolVar(&whole, "cluster", false, "the cluster: its nodes and newest jobs")
	cmd.Flags().BoolVar(&details, "details", false, "the job's steps: percentiles, statuses and errors so far")
	cmd.Flags().StringVar(&query.Datacenter, "datacenter", "", "with --details: the figures of this one; all together if not given")
	cmd.Flags().StringVar(&query.Workflow, "workflow", "", "with --details: this one alone")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	AskingBoth(cmd, func(ctx context.Context, s *session.Session, w io.Writer, args []string) error {
		if whole {
			return clusterStatus(ctx, s, w, asJSON)
		}
		if details {
			job, err := message.ParseJobID(args[0])
			if err != nil {
				return command.AsUsage(err)
			}
			query.Job, query.Detail = job, true
			return jobDetails(ctx, s, w, &query, asJSON)
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
		shown := view.JobOf(status)
		if answer, err = s.Ask(ctx, &message.ClusterQuery{}); err != nil {
			return err
		}
		if c, ok := answer.(*message.ClusterStatus); ok {
			shown.Hold(c)
		}
		return command.PrintJSON(w, shown)
	}
	model := ui.NewModel(status.Name, &message.Plan{})
	model.Apply(status)
	_, err = fmt.Fprintf(w, "%s  %s\n%s\n", job, units.Clean(status.Name), ui.Line(model))
	if err == nil && status.Takeovers > 0 {
		_, err = fmt.Fprintf(w, "gates took it over %s\n", units.Counted(status.Takeovers, "time"))
	}
	for _, sink := range report.SinksOf(status.Sinks.List) {
		if err == nil {
			_, err = fmt.Fprintln(w, ui.SinkText(&sink))
		}
	}
	return err
}
