package operate

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/session"
	"hyperscale/core/message"
)

// NewCancelCommand cancels a job and waits for its end.
func NewCancelCommand() *cobra.Command {
	var now bool
	cmd := asking(&cobra.Command{
		Use:   "cancel JOB",
		Short: "stop a job, and wait until it has stopped",
		Long:  "Stop a job, and wait until it has stopped. What its file runs with after_all still runs, for\n30 s at most. --now ends that, too, also for a job that was cancelled before.",
		Args:  command.JobArgument,
	}, func(ctx context.Context, s *session.Session, w io.Writer, args []string) error {
		job, err := message.ParseJobID(args[0])
		if err != nil {
			return command.AsUsage(err)
		}
		answer, err := s.Ask(ctx, &message.JobCancel{Job: job, Now: now})
		if err != nil {
			return err
		}
		ack, ok := answer.(*message.JobCancelAck)
		if !ok {
			return session.Unexpected(answer)
		}
		state, err := ended(ctx, s, job, ack.State)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%s %s\n", job, state); err != nil {
			return err
		}
		if state != message.JobCancelled {
			return command.Exit(command.ExitFailed, fmt.Errorf("job %v had ended before: it is %s", job, state))
		}
		return nil
	})
	cmd.Flags().BoolVar(&now, "now", false, "do not wait for after_all")
	return cmd
}

// ended waits for a job's terminal state.
func ended(ctx context.Context, s *session.Session, job message.JobID, state message.JobState) (message.JobState, error) {
	if state.Terminal() {
		return state, nil
	}
	ctx, cancel := context.WithTimeout(ctx, session.CancelMax)
	defer cancel()
	watch, err := s.Node.Command(ctx, &message.JobWatch{Job: job})
	if err != nil {
		return state, err
	}
	defer watch.Close()
	for m := range watch.Answers() {
		switch m := m.(type) {
		case *message.JobStatus:
			if m.State.Terminal() {
				return m.State, nil
			}
		case *message.JobResult:
			return m.Result.State, nil
		case *message.Refused:
			return state, session.Refusal(m)
		}
	}
	return state, command.Exit(command.ExitFailed, fmt.Errorf("job %v has not ended within %v: ask for its state with `%s status`", job, session.CancelMax, command.Called()))
}
