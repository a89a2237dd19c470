package operate

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/session"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/ui/units"
	"hyperscale/runtime/view"
)

const (
	replaysMax  = 50                     // of one call
	replayPause = 200 * time.Millisecond // between two replays
)

// NewReplayCommand submits dead letters once more.
func NewReplayCommand() *cobra.Command {
	var (
		approve bool
		number  uint64
	)
	cmd := asking(&cobra.Command{
		Use:   "replay JOB...",
		Short: "submit dead letters once more",
		Long: `Submit the programs of dead letters once more: of jobs that the cluster ended, which
` + "`hyperscale jobs --dead`" + ` lists. Each becomes a new job under the key replay/JOB/NUMBER, with the
parameters, the importance and the datacenters of the first. The dead letter keeps its end.

A number is one job: a replay that is repeated, or that two people ask for, submits nothing
twice. Where the new job becomes a dead letter as well, replay that one.

Without --approve the command lists what it would submit, and ends with code 2.`,
		Example: "  hyperscale replay 2nxdrha4eza5tw7b04766731bc --gate gate-1:9000\n" +
			"  hyperscale replay 2nxdrha4eza5tw7b04766731bc --approve --gate gate-1:9000",
		Args: replayed,
	}, func(ctx context.Context, s *session.Session, w io.Writer, args []string) error {
		letters, err := meant(ctx, s, args)
		if err != nil {
			return err
		}
		r := replays{letters: letters, number: uint32(number), approved: approve, ask: s.Ask}
		return r.run(ctx, w)
	})
	cmd.Flags().BoolVar(&approve, "approve", false, "submit them; without it nothing is submitted")
	command.AddCount(cmd.Flags(), &number, "number", 1, 1, 1_000_000, "number of the replay: equal numbers are one job")
	return cmd
}

func replayed(_ *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return command.Usage("name the jobs to replay: `%s jobs --dead` lists them", command.Called())
	case len(args) > replaysMax:
		return command.Usage("%d jobs are named, %d can be replayed by one call: name fewer", len(args), replaysMax)
	}
	return nil
}

// meant returns the dead letters that are named. It rejects every other job, before anything is
// submitted.
func meant(ctx context.Context, s *session.Session, args []string) (letters []message.JobInfo, err error) {
	var ids []message.JobID
	for _, arg := range args {
		id, err := message.ParseJobID(arg)
		if err != nil {
			return nil, command.AsUsage(err)
		}
		ids = append(ids, id)
	}
	list, err := AskJobs(ctx, s, true)
	if err != nil {
		return nil, err
	}
	known := map[message.JobID]message.JobInfo{}
	for _, j := range list.Jobs {
		known[j.Job] = j
	}
	for _, id := range ids {
		j, ok := known[id]
		if !ok {
			return nil, command.Usage("job %v is no dead letter: list them with `%s jobs --dead`", id, command.Called())
		}
		letters = append(letters, j)
	}
	return letters, nil
}

// replays are the dead letters that one call submits once more.
type replays struct {
	letters  []message.JobInfo
	number   uint32
	approved bool
	ask      func(context.Context, node.Message) (node.Message, error)
}

// run submits what is approved, and else says what it would submit.
func (r *replays) run(ctx context.Context, w io.Writer) error {
	if !r.approved {
		return r.plan(w)
	}
	return r.submit(ctx, w)
}

// line names a dead letter and the job that replays it.
func (r *replays) line(id message.JobID) string {
	key := message.ReplayKey(id, r.number)
	return fmt.Sprintf("%v is replayed as %v, key %s", id, message.JobOf(key), key)
}

// plan lists what would be submitted.
func (r *replays) plan(w io.Writer) error {
	for _, j := range r.letters {
		if _, err := fmt.Fprintf(w, "%s\n", r.line(j.Job)); err != nil {
			return err
		}
	}
	return command.Exit(command.ExitUsage, fmt.Errorf("nothing is submitted: add --approve to replay %s", command.Counted(len(r.letters), "job")))
}

// submit submits one dead letter after the other, each after a pause, and prints the new jobs.
func (r *replays) submit(ctx context.Context, w io.Writer) error {
	for i, j := range r.letters {
		if i > 0 {
			select {
			case <-time.After(replayPause):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		answer, err := r.ask(ctx, &message.JobReplay{Job: j.Job, Number: r.number})
		if err != nil {
			return err
		}
		ack, ok := answer.(*message.JobAck)
		if !ok {
			return session.Unexpected(answer)
		}
		again := ""
		if ack.Duplicate {
			again = ", which was submitted before"
		}
		if _, err := fmt.Fprintf(w, "%v is replayed as %v%s\n", j.Job, ack.Job, again); err != nil {
			return err
		}
	}
	return nil
}

// printLetters prints dead letters, as of now.
func printLetters(w io.Writer, l *message.JobList, left int, now time.Time, asJSON bool) error {
	if asJSON {
		return command.PrintJSON(w, view.LettersOf(l, left, now))
	}
	if err := PrintSeenBy(w, l); err != nil {
		return err
	}
	if len(l.Jobs) == 0 {
		_, err := fmt.Fprintln(w, "no dead letters")
		return err
	}
	rows := [][]string{{"JOB", "NAME", "STATE", "ENDED", "REASON"}}
	for i := range l.Jobs {
		j := &l.Jobs[i]
		d := view.LetterOf(l, j.Job)
		rows = append(rows, []string{j.Job.String(), units.Shorten(cmp.Or(j.Name, "-"), 20), stateText(j.State), units.Duration(d.Ended) + " ago", units.Shorten(units.Clean(d.Reason), 80)})
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	if err := command.PrintRows(w, rows); err != nil || left == 0 {
		return err
	}
	_, err := fmt.Fprintf(w, "%s more: raise --limit\n", command.Counted(left, "dead letter"))
	return err
}
