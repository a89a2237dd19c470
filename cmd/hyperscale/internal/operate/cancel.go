package operate

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/session"
	"hyperscale/core/message"
)

// NewCancelCommand cancels a job, or all that are meant, and waits for their ends.
func NewCancelCommand() *cobra.Command {
	var (
		now, all bool
		reason   string
		key      string
		many     bulk
	)
	cmd := &cobra.Command{
		Use:   "cancel [JOB [WORKFLOW]...]",
		Short: "stop a job, or some of its workflows, and wait until they have stopped",
		Long: "Stop a job, and wait until it has stopped. What its file runs with after_all still runs, for\n30 s at most. --now ends that, too, also for a job that was cancelled before.\n\n" +
			"With names of workflows, stop those alone. The job goes on; what depends on one of them fails.\n\n" +
			"With --all, stop every job that has not ended, of those that --state, --name and --older-than\nleave. The command lists them first and asks at a terminal; elsewhere it needs --yes.",
		Example: "  hyperscale cancel 2nxdrha4eza5tw7b04766731bc --gate gate-1:9000\n" +
			"  hyperscale cancel 2nxdrha4eza5tw7b04766731bc soak --reason \"the database is full\" --gate gate-1:9000\n" +
			"  hyperscale cancel 2nxdrha4eza5tw7b04766731bc --api https://gates.example.org --token-file ci.token --key build-42\n" +
			"  hyperscale cancel --all --state QUEUED --older-than 1h --gate gate-1:9000",
		Args: func(cmd *cobra.Command, args []string) error {
			return many.fits(cmd, args, all, key)
		},
	}
	AskingBoth(cmd, func(ctx context.Context, s *session.Session, w io.Writer, args []string) error {
		if all {
			many.order = message.JobCancel{Now: now, Reason: reason}
			many.answers, many.notes = cmd.InOrStdin(), cmd.ErrOrStderr()
			many.person = term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stderr.Fd()))
			return many.run(ctx, s, w)
		}
		job, err := message.ParseJobID(args[0])
		if err != nil {
			return command.AsUsage(err)
		}
		if key != "" {
			if err := s.Own(job, key); err != nil {
				return err
			}
		}
		if now && len(args) > 1 {
			return command.Usage("--now ends after_all of a whole job: leave it out, or name no workflow")
		}
		order := &message.JobCancel{Job: job, Now: now, Workflows: args[1:], Reason: reason}
		if len(args) > 1 {
			if _, err := ordered(ctx, s, order); err != nil {
				return err
			}
			return stopped(ctx, s, w, job, args[1:])
		}
		state, err := cancelled(ctx, s, order)
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
	cmd.Flags().StringVar(&reason, "reason", "", "`text` for people: why; results and status show it")
	cmd.Flags().StringVar(&key, "key", "", "with --api: what submitted the job as its --key, for a submitter's token; an operator's needs none")
	cmd.Flags().BoolVar(&now, "now", false, "do not wait for after_all")
	cmd.Flags().BoolVar(&all, "all", false, "every job that has not ended")
	cmd.Flags().BoolVar(&many.yes, "yes", false, "with --all: do not ask")
	many.which.addTo(cmd.Flags())
	command.AddSpan(cmd.Flags(), &many.which.olderThan, "older-than", 0, time.Second, "with --all: only jobs that were accepted so long ago, like 1h")
	return cmd
}

// fits rejects arguments and flags that contradict --all or its absence. key is what --key has.
func (b *bulk) fits(cmd *cobra.Command, args []string, all bool, key string) error {
	switch {
	case all && key != "":
		return command.Usage("--key is of one job: name that job, or leave --key out")
	case all && len(args) > 0:
		return command.Usage("--all cancels every job that is meant, and %q is one: leave one of them out", args[0])
	case all:
		return nil
	case b.which.any() || b.yes:
		return command.Usage("--state, --name, --older-than and --yes go with --all: add it, or leave them out")
	}
	return command.JobAndNames(cmd, args)
}

// ordered sends a cancellation, and returns the job's state once a majority has it.
func ordered(ctx context.Context, s *session.Session, order *message.JobCancel) (state message.JobState, err error) {
	answer, err := s.Ask(ctx, order)
	if err != nil {
		return state, err
	}
	ack, ok := answer.(*message.JobCancelAck)
	if !ok {
		return state, session.Unexpected(answer)
	}
	return ack.State, nil
}

// cancelled cancels a job, and waits for its end.
func cancelled(ctx context.Context, s *session.Session, order *message.JobCancel) (message.JobState, error) {
	state, err := ordered(ctx, s, order)
	if err != nil {
		return state, err
	}
	return ended(ctx, s, order.Job, state)
}

// stopped waits for the ends of workflows in all datacenters, and prints them.
func stopped(ctx context.Context, s *session.Session, w io.Writer, job message.JobID, names []string) error {
	ends := map[string]message.WorkflowState{}
	_, err := follow(ctx, s, job, func(m *message.JobStatus) bool {
		clear(ends)
		for _, d := range m.Datacenters {
			for _, f := range d.Workflows {
				if had, ok := ends[f.Name]; !ok || had.Terminal() && f.State != message.WorkflowCompleted {
					ends[f.Name] = f.State
				}
			}
		}
		return len(m.Datacenters) == 0 || !slices.ContainsFunc(names, func(name string) bool { return !ends[name].Terminal() })
	})
	if err != nil {
		return err
	}
	for _, name := range names {
		state := "is cancelled before it began"
		if end := ends[name]; end != message.WorkflowNone {
			state = end.String()
		}
		if _, err := fmt.Fprintf(w, "%s %s %s\n", job, name, state); err != nil {
			return err
		}
		if end := ends[name]; end.Terminal() && end != message.WorkflowCancelled {
			return command.Exit(command.ExitFailed, fmt.Errorf("workflow %s had ended before: it is %v", name, end))
		}
	}
	return nil
}

// ended waits for a job's terminal state.
func ended(ctx context.Context, s *session.Session, job message.JobID, state message.JobState) (message.JobState, error) {
	if state.Terminal() {
		return state, nil
	}
	return follow(ctx, s, job, func(*message.JobStatus) bool { return false })
}

// follow shows each status of a job to enough, until that is true or the job has ended. It returns
// the job's last state.
func follow(ctx context.Context, s *session.Session, job message.JobID, enough func(*message.JobStatus) bool) (state message.JobState, err error) {
	ctx, cancel := context.WithTimeout(ctx, session.CancelMax)
	defer cancel()
	watch, err := s.Command(ctx, &message.JobWatch{Job: job})
	if err != nil {
		return state, err
	}
	defer watch.Close()
	for m := range watch.Answers() {
		switch m := m.(type) {
		case *message.JobStatus:
			if state = m.State; enough(m) || state.Terminal() {
				return state, nil
			}
		case *message.JobResult:
			enough(&message.JobStatus{State: m.Result.State, Datacenters: m.Result.Datacenters})
			return m.Result.State, nil
		case *message.Refused:
			return state, session.Refusal(m)
		}
	}
	return state, command.Exit(command.ExitFailed, fmt.Errorf("job %v has not stopped within %v: ask for its state with `%s status`", job, session.CancelMax, command.Called()))
}
