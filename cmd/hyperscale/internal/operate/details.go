package operate

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/session"
	"hyperscale/core/message"
	"hyperscale/runtime/report"
	"hyperscale/runtime/ui/units"
)

// pagesMax bounds the pages of one job's details: a gate could go on for ever.
const pagesMax = 10_000

// gathered joins the pages of a job's details.
type gathered struct {
	status *message.JobStatus // of the newest page
	flows  []message.WorkflowResult
}

// add takes a page's steps; the newest figures of a step that two pages have count.
func (g *gathered) add(page *message.JobStatus) {
	g.status = page
	for _, d := range page.Datacenters {
		for _, w := range d.Workflows {
			at := slices.IndexFunc(g.flows, func(o message.WorkflowResult) bool { return o.Name == w.Name })
			if at < 0 {
				g.flows = append(g.flows, w)
				continue
			}
			steps := g.flows[at].Stats.Steps
			for _, s := range w.Stats.Steps {
				if k := slices.IndexFunc(steps, func(o message.StepStats) bool { return o.Name == s.Name && o.Kind == s.Kind }); k >= 0 {
					steps[k] = s
				} else {
					steps = append(steps, s)
				}
			}
			g.flows[at] = w
			g.flows[at].Stats.Steps = steps
		}
	}
}

// next moves a query behind the last step of a page, and says whether there is one.
func next(q *message.JobQuery, page *message.JobStatus) bool {
	was := [2]string{q.AfterWorkflow, q.AfterStep}
	for _, d := range page.Datacenters {
		for _, w := range d.Workflows {
			q.AfterWorkflow, q.AfterStep = w.Name, ""
			for _, s := range w.Stats.Steps {
				q.AfterStep = s.Name
			}
		}
	}
	return page.More && was != [2]string{q.AfterWorkflow, q.AfterStep}
}

// jobDetails prints the steps of a job, running or ended, with percentiles, statuses and errors.
func jobDetails(ctx context.Context, s *session.Session, w io.Writer, q *message.JobQuery, asJSON bool) error {
	var all gathered
	for more, n := true, 0; more && n < pagesMax; n++ {
		question := *q
		answer, err := s.Ask(ctx, &question)
		if err != nil {
			return err
		}
		page, ok := answer.(*message.JobStatus)
		if !ok {
			return session.Unexpected(answer)
		}
		all.add(page)
		more = next(q, page)
	}
	r, err := report.Build(&message.Result{Job: all.status.Job, Name: all.status.Name, State: all.status.State, Error: all.status.Reason, Duration: all.status.Elapsed, Workflows: all.flows}, time.Time{})
	if err != nil {
		return command.Exit(command.ExitFailed, err)
	}
	if asJSON {
		return command.PrintJSON(w, detailsJSON{r.Job, r.Name, r.Outcome, q.Datacenter, int64(all.status.Elapsed), r.Workflows})
	}
	return printDetails(w, r, q.Datacenter)
}

type detailsJSON struct {
	Job        string            `json:"job"`
	Name       string            `json:"name"`
	State      string            `json:"state"`
	Datacenter string            `json:"datacenter"` // whose figures; empty: the sums of all
	ElapsedNS  int64             `json:"elapsed_ns"`
	Workflows  []report.Workflow `json:"workflows"` // as in a result file
}

func printDetails(w io.Writer, r *report.Result, datacenter string) error {
	place := "all datacenters"
	if datacenter != "" {
		place = datacenter
	}
	lines := []string{fmt.Sprintf("%s  %s  %s, figures of %s", r.Job, r.Name, r.Outcome, place)}
	if len(r.Workflows) == 0 {
		lines = append(lines, "no workflow has reported figures")
	}
	if err := printLines(w, lines); err != nil {
		return err
	}
	for i := range r.Workflows {
		if err := printWorkflow(w, &r.Workflows[i]); err != nil {
			return err
		}
	}
	return nil
}

func printWorkflow(w io.Writer, flow *report.Workflow) error {
	head := fmt.Sprintf("workflow %s  %s", flow.Name, flow.Outcome)
	if flow.Error != "" {
		head += ": " + flow.Error
	}
	if err := printLines(w, []string{"", head}); err != nil {
		return err
	}
	rows, notes := [][]string{{"STEP", "STARTED", "OK", "FAILED", "TIMED OUT", "P50", "P90", "P99", "MAX"}}, []string(nil)
	for _, s := range slices.Concat(flow.Steps, flow.Requests, flow.Beside) {
		rows = append(rows, []string{
			s.Name, units.Count(s.Started), units.Count(s.OK), units.Count(s.Failed), units.Count(s.TimedOut),
			units.LatencyOr(uint64(s.LatencyNS.P50)), units.LatencyOr(uint64(s.LatencyNS.P90)), units.LatencyOr(uint64(s.LatencyNS.P99)), units.LatencyOr(uint64(s.LatencyNS.Max)),
		})
		notes = append(notes, statusNotes(&s)...)
	}
	if err := command.PrintRows(w, rows); err != nil {
		return err
	}
	return printLines(w, notes)
}

// statusNotes lists the statuses and errors of a step.
func statusNotes(s *report.Step) (notes []string) {
	var statuses []string
	for status, n := range s.Statuses { //lint:orderfree sorted below
		statuses = append(statuses, status+" × "+units.Count(n))
	}
	slices.Sort(statuses)
	if len(statuses) > 0 {
		notes = append(notes, s.Name+": "+strings.Join(statuses, ", "))
	}
	for _, e := range s.Errors {
		text := fmt.Sprintf("%s: %s × %s", s.Name, e.Kind, units.Count(e.Count))
		if e.Example != "" {
			text += ", as " + strconv.Quote(units.Shorten(e.Example, 80))
		}
		notes = append(notes, text)
	}
	return notes
}

func printLines(w io.Writer, lines []string) error {
	for _, line := range lines {
		if _, err := fmt.Fprintln(w, units.Clean(line)); err != nil {
			return err
		}
	}
	return nil
}
