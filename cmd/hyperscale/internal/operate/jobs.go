package operate

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/session"
	"hyperscale/core/message"
	"hyperscale/runtime/ui/units"
	"hyperscale/runtime/view"
)

// NewJobsCommand lists the jobs of all gates.
func NewJobsCommand() *cobra.Command {
	var (
		which  selection
		limit  uint64
		asJSON bool
		dead   bool
	)
	cmd := AskingBoth(&cobra.Command{
		Use:   "jobs",
		Short: "list the jobs of all gates, the newest first",
		Long: `List the jobs of all gates, the newest first.

The command asks every gate what it knows, and merges the answers. If a majority of the
gates answers, no job that a gate has acknowledged and not forgotten is missing. The
first line says which gates answered.

With --dead, list the dead letters: jobs that a gate acknowledged and the cluster ended, as
it had nowhere to run them, lost them too often, or let them wait for too long. A program's
own failure is none. ` + "`hyperscale replay`" + ` submits them once more.`,
		Example: "  hyperscale jobs --gate gate-1:9000\n  hyperscale jobs --state RUNNING,QUEUED --since 2h --gate gate-1:9000 --json\n  hyperscale jobs --dead --gate gate-1:9000",
		Args:    command.Exactly(),
	}, func(ctx context.Context, s *session.Session, w io.Writer, _ []string) error {
		all, err := AskJobs(ctx, s, dead)
		if err != nil {
			return err
		}
		all.Jobs = which.of(all.Jobs)
		left := max(0, len(all.Jobs)-int(limit))
		all.Jobs = all.Jobs[:len(all.Jobs)-left]
		if dead {
			return printLetters(w, all, left, time.Now(), asJSON)
		}
		if asJSON {
			return command.PrintJSON(w, view.JobListOf(all, left))
		}
		return printJobList(w, all, left)
	})
	flags := cmd.Flags()
	which.addTo(flags)
	command.AddSpan(flags, &which.youngerThan, "since", 0, time.Second, "only jobs that were accepted within this time, like 2h")
	command.AddCount(flags, &limit, "limit", 50, 1, 1_000_000, "show so many jobs at most")
	flags.BoolVar(&asJSON, "json", false, "print JSON")
	flags.BoolVar(&dead, "dead", false, "only dead letters, with the reasons of their ends")
	return cmd
}

// listMax bounds the pages of a list; one that is longer is cut, and says so.
const listMax = 1000

// AskJobs asks all gates for their jobs, or for their dead letters alone. An API answers page by page.
func AskJobs(ctx context.Context, s *session.Session, dead bool) (*message.JobList, error) {
	q, all := &message.JobListQuery{Dead: dead}, new(message.JobList)
	for pages := 1; ; pages++ {
		answer, err := s.Ask(ctx, q)
		if err != nil {
			return nil, err
		}
		list, ok := answer.(*message.JobList)
		if !ok {
			return nil, session.Unexpected(answer)
		}
		if !follows(all, list) || !list.More || pages == listMax {
			break
		}
		q = &message.JobListQuery{Dead: dead, After: list.Jobs[len(list.Jobs)-1].Job}
	}
	if dead { // an older gate lists all its jobs
		all.Jobs = slices.DeleteFunc(all.Jobs, func(j message.JobInfo) bool { return view.LetterOf(all, j.Job) == nil })
	}
	return all, nil
}

// follows adds a page to a list, and says whether it has jobs that the list had not. A gate that lacks in one page
// lacks in the list.
func follows(all, page *message.JobList) (grown bool) {
	had := map[message.JobID]bool{}
	for i := range all.Jobs {
		had[all.Jobs[i].Job] = true
	}
	fresh := *page
	fresh.Gates = slices.Clone(page.Gates)
	for _, was := range all.Gates {
		at := slices.IndexFunc(fresh.Gates, func(g message.GateView) bool { return g.Addr == was.Addr })
		if at < 0 {
			fresh.Gates = append(fresh.Gates, was)
		} else if was.Why != "" {
			fresh.Gates[at].Why = was.Why
		}
	}
	fresh.Jobs = slices.Concat(all.Jobs, slices.DeleteFunc(slices.Clone(page.Jobs), func(j message.JobInfo) bool { return had[j.Job] }))
	fresh.Letters = slices.Concat(all.Letters, slices.DeleteFunc(slices.Clone(page.Letters), func(l message.LetterInfo) bool { return had[l.Job] }))
	grown = len(fresh.Jobs) > len(all.Jobs)
	*all = fresh
	return grown
}

// SeenBy says which gates a list comes from, and what it may lack.
func SeenBy(l *message.JobList) string {
	var missing []string
	for _, g := range l.Gates {
		if g.Why != "" {
			missing = append(missing, fmt.Sprintf("\n%s did not answer: %s", cmp.Or(g.Node, g.Addr), g.Why))
		}
	}
	n, all := len(l.Gates)-len(missing), len(l.Gates)
	text := fmt.Sprintf("as %d of %d gates see it", n, all)
	if all == 1 {
		text = "as the only gate sees it"
	}
	text += strings.Join(missing, "")
	if 2*n <= all {
		text += "\nwarning: fewer than a majority of the gates answered: jobs may be missing"
	}
	if l.More {
		text += "\nwarning: the gates know more jobs than a list can have: some are missing"
	}
	return text
}

func PrintSeenBy(w io.Writer, l *message.JobList) error {
	for line := range strings.SplitSeq(SeenBy(l), "\n") {
		if _, err := fmt.Fprintln(w, units.Clean(line)); err != nil {
			return err
		}
	}
	return nil
}

// printJobList prints a list of jobs as a table.
func printJobList(w io.Writer, l *message.JobList, left int) error {
	if err := PrintSeenBy(w, l); err != nil {
		return err
	}
	if len(l.Jobs) == 0 {
		_, err := fmt.Fprintln(w, "no jobs")
		return err
	}
	if err := printJobRows(w, l.Jobs); err != nil {
		return err
	}
	if left > 0 {
		_, err := fmt.Fprintf(w, "%s more: raise --limit\n", command.Counted(left, "job"))
		return err
	}
	return nil
}

func printJobRows(w io.Writer, jobs []message.JobInfo) error {
	rows, guessed := [][]string{{"JOB", "NAME", "STATE", "IMPORTANCE", "AGE", "STARTED", "FAILED", "DATACENTERS"}}, false
	for i := range jobs {
		j := &jobs[i]
		state, importance, started, failed := stateText(j.State), "-", "-", "-"
		switch {
		case j.Position > 0:
			state += " (" + command.Number(j.Position) + ")"
		case j.Source == message.SourceRecord:
			state, guessed = state+"*", true
		}
		if j.Ranked {
			importance = j.Rank.String()
		}
		if j.Counted {
			started, failed = units.Count(j.Started), units.Count(j.Failed)
		}
		places := cmp.Or(strings.Join(j.Datacenters, ","), "-")
		rows = append(rows, []string{j.Job.String(), units.Shorten(cmp.Or(j.Name, "-"), 20), state, importance, units.Duration(j.Age), started, failed, units.Shorten(places, 40)})
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	if err := command.PrintRows(w, rows); err != nil || !guessed {
		return err
	}
	_, err := fmt.Fprintln(w, "* as its record says: the gate that owns the job did not answer")
	return err
}

// stateText is a state; a job whose record this version cannot read has none.
func stateText(s message.JobState) string {
	if s == message.JobNone {
		return "-"
	}
	return s.String()
}
