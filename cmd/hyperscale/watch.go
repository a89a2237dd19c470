package main

import (
	"time"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/follow"
	"hyperscale/cmd/hyperscale/internal/session"
	"hyperscale/core/message"
	"hyperscale/runtime/ui"
)

func newWatchCommand() *cobra.Command {
	var (
		out  follow.Flags
		gate session.Flags
	)
	cmd := &cobra.Command{
		Use:   "watch JOB",
		Short: "follow a job to its end; ctrl-c leaves it running",
		Args:  command.JobArgument,
		RunE: command.Runs(func(cmd *cobra.Command, args []string) error {
			job, err := message.ParseJobID(args[0])
			if err != nil {
				return command.AsUsage(err)
			}
			follower, err := follow.New(&out)
			if err != nil {
				return err
			}
			defer follower.Release()
			follower.Detach = true
			gate.Note = follower.Note
			s, err := session.Dial(&gate, follower.Logger)
			if err != nil {
				return err
			}
			defer s.Close()
			result, err := follower.Follow(cmd.Context(), s, job, ui.NewModel("", &message.Plan{}))
			if err != nil {
				return err
			}
			follower.Started = time.Now().Add(-result.Duration)
			return follower.Finish(cmd, result)
		}),
	}
	gate.AddBoth(cmd)
	out.Add(cmd.Flags())
	return cmd
}
