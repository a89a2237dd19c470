package recall

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/runtime/history"
	"hyperscale/runtime/history/change"
	"hyperscale/runtime/ui/units"
)

// trendFlags are those of history trend.
type trendFlags struct {
	flags
	workflow, load, metric string
	last                   uint64
	options                change.Options
}

func newTrend() *cobra.Command {
	f := trendFlags{options: change.Default()}
	var names []string
	for _, m := range history.Metrics() {
		names = append(names, m.Name)
	}
	cmd := &cobra.Command{
		Use:   "trend STEP",
		Short: "say at which runs a figure of a step changed for good",
		Long: `Follow one figure of a step over the runs of one load, the newest ones, and name the runs
at which its level changed: by how much, how sure that is, and what else changed there.
Runs whose generator was saturated, or that did not complete, are shown and not judged.
Runs of another load are another series: the last lines name those.`,
		Example: "  hyperscale history trend pay\n  hyperscale history trend pay --metric p50 --last 200 --of checkout.star",
		Args:    command.Exactly("STEP"),
		RunE: f.reads(func(s *history.Store, w io.Writer, args []string) error {
			if f.options.Chance <= 0 || f.options.Chance > 0.1 {
				return command.Usage("--chance %v must be above 0, up to 0.1: 0.0005 is the default", f.options.Chance)
			}
			if f.options.Effect < 0 || f.options.Effect > 10 {
				return command.Usage("--effect %v must be from 0 to 10: 0.03 is 3 %%", f.options.Effect)
			}
			f.options.Sure = min(f.options.Sure, f.options.Chance)
			q, err := f.place(s, args[0])
			if err != nil {
				return err
			}
			series, err := s.Series(q)
			if err != nil {
				return err
			}
			shifts := series.Shifts(f.options)
			if f.asJSON {
				return command.PrintJSON(w, trendView(series, shifts))
			}
			return printTrend(w, series, shifts)
		}),
	}
	set := cmd.Flags()
	f.add(set)
	f.addOf(set)
	f.addJSON(set)
	set.StringVar(&f.workflow, "workflow", "", "`name` of the step's workflow, where several have such a step")
	set.StringVar(&f.load, "load", "", "`digest` of the load, as the last lines name it; that of the newest run if not given")
	command.AddChoice(set, &f.metric, "metric", "p99", "figure to follow", names...)
	command.AddCount(set, &f.last, "last", 50, 2, 1000, "look at so many runs at most")
	set.Float64Var(&f.options.Chance, "chance", f.options.Chance, "a change counts if noise makes one so large with less chance")
	set.Float64Var(&f.options.Effect, "effect", f.options.Effect, "least change that counts, as a share of the figure; of errors, of all requests")
	return cmd
}

// place finds the one name and workflow that have a step.
func (f *trendFlags) place(s *history.Store, step string) (history.Query, error) {
	all, err := s.Places(step)
	if err != nil {
		return history.Query{}, err
	}
	all = slices.DeleteFunc(all, func(q history.Query) bool {
		return f.of != "" && q.Name != nameOf(f.of) || f.workflow != "" && q.Workflow != f.workflow
	})
	switch {
	case len(all) == 0:
		return history.Query{}, command.Usage("no run has a step %q there: `%s history list` names runs, `%s report` of an exported run its steps", step, command.Called(), command.Called())
	case len(all) > 1:
		var names []string
		for _, q := range all[:min(len(all), 5)] {
			names = append(names, fmt.Sprintf("workflow %s of %s", q.Workflow, q.Name))
		}
		return history.Query{}, command.Usage("%d workflows have a step %q: %s: choose one with --of and --workflow", len(all), step, strings.Join(names, ", "))
	}
	q := all[0]
	q.Metric, q.Last, q.Load = f.metric, int(f.last), f.load
	return q, nil
}

// valueOf writes a figure with its unit.
func valueOf(m *history.Metric, v float64) string {
	switch {
	case m.Shares:
		return fmt.Sprintf("%.2f%%", v/10_000)
	case m.Name == "rate":
		return units.Milli(uint64(v)) + "/s"
	}
	return units.Latency(uint64(v))
}

// moved writes by how much a level changed.
func moved(m *history.Metric, s *history.Shift) string {
	if m.Shares {
		return fmt.Sprintf("%+.2fpt", (s.After-s.Before)/10_000)
	}
	return fmt.Sprintf("%+.1f%%", 100*(s.After/s.Before-1))
}

func printTrend(w io.Writer, s *history.Series, shifts []history.Shift) error {
	m := &s.Metric
	lines := []string{fmt.Sprintf("%s of step %s, workflow %s of %s, under %s", m.Name, s.Step, s.Workflow, s.Name, s.Load)}
	rows := [][]string{{"RUN", "WHEN (UTC)", strings.ToUpper(m.Name), "OUTCOME", "TAG", "NOTE"}}
	var values []uint64
	for i := range s.Points {
		p := &s.Points[i]
		value, note := "-", ""
		if p.Value >= 0 {
			value = valueOf(m, p.Value)
		}
		if p.Judged {
			values = append(values, uint64(p.Value))
		} else {
			note = "not judged"
		}
		for k := range shifts {
			if shifts[k].First.Job == p.Job {
				note = "new level, " + moved(m, &shifts[k])
			}
		}
		rows = append(rows, []string{fmt.Sprint(p.Number), p.Started.Format(whenLayout), value, outcomeOf(&p.Run), p.Tag, note})
	}
	if len(values) > 1 {
		lines = append(lines, fmt.Sprintf("%s  %s to %s", sparkline(values), valueOf(m, float64(slices.Min(values))), valueOf(m, float64(slices.Max(values)))))
	}
	if len(shifts) == 0 {
		lines = append(lines, fmt.Sprintf("no change of level in %s that say something", units.Counted(uint64(len(values)), "run")))
	}
	for i := range shifts {
		lines = append(lines, shiftText(m, &shifts[i]))
	}
	lines = append(lines, "")
	for _, line := range lines {
		if _, err := fmt.Fprintln(w, units.Clean(line)); err != nil {
			return err
		}
	}
	if err := command.PrintRows(w, rows); err != nil {
		return err
	}
	for i, o := range s.Others {
		lead := ""
		if i == 0 {
			lead = "\n"
		}
		if _, err := fmt.Fprintf(w, "%sanother series: %s under %s, --load %s\n", lead, units.Counted(uint64(o.Runs), "run"), units.Clean(o.Load), o.Digest); err != nil {
			return err
		}
	}
	return nil
}

// shiftText says what changed at a run.
func shiftText(m *history.Metric, s *history.Shift) string {
	word := "better"
	if s.Worse(*m) {
		word = "worse"
	}
	text := fmt.Sprintf("from run %d on %s: %s to %s (%s), by chance %s", s.First.Number, word, valueOf(m, s.Before), valueOf(m, s.After), moved(m, s), onceIn(s.P))
	if s.Behind < 3 {
		text += "; so few runs stand behind it: run it again"
	}
	if len(s.Since) > 0 {
		return text + "; what else changed there: " + strings.Join(s.Since, ", ")
	}
	return text + "; nothing else that the history knows changed there"
}

// onceIn writes a chance as people say it.
func onceIn(p float64) string {
	if p < 1e-9 {
		return "less than once in 1,000,000,000"
	}
	return "once in " + units.Count(uint64(1/p))
}

// trendView is a series as JSON has it.
func trendView(s *history.Series, shifts []history.Shift) any {
	type point struct {
		Run    runView `json:"run"`
		Value  int64   `json:"value"` // ns, thousandths of a rate, or parts per million of errors; -1: nothing ended
		Judged bool    `json:"judged"`
	}
	type shift struct {
		Run    int      `json:"run"`    // first of the new level
		Before int64    `json:"before"` // mean of the old level, in the unit of values
		After  int64    `json:"after"`
		Worse  bool     `json:"worse"`
		P      float64  `json:"p"`
		Behind int      `json:"behind"` // judged runs from it on
		Since  []string `json:"since"`
	}
	type other struct {
		Load   string `json:"load"`
		Digest string `json:"load_digest"`
		Runs   int    `json:"runs"`
	}
	v := struct {
		Name     string  `json:"name"`
		Workflow string  `json:"workflow"`
		Step     string  `json:"step"`
		Metric   string  `json:"metric"`
		Load     string  `json:"load"`
		Digest   string  `json:"load_digest"`
		Points   []point `json:"points"` // the oldest first
		Changes  []shift `json:"changes"`
		Others   []other `json:"other_loads"`
	}{s.Name, s.Workflow, s.Step, s.Metric.Name, s.Load, s.Query.Load, []point{}, []shift{}, []other{}}
	for i := range s.Points {
		v.Points = append(v.Points, point{viewOf(&s.Points[i].Run), int64(math.Round(s.Points[i].Value)), s.Points[i].Judged})
	}
	for i := range shifts {
		x := &shifts[i]
		v.Changes = append(v.Changes, shift{x.First.Number, int64(math.Round(x.Before)), int64(math.Round(x.After)), x.Worse(s.Metric), x.P, x.Behind, append([]string{}, x.Since...)})
	}
	for _, o := range s.Others {
		v.Others = append(v.Others, other(o))
	}
	return v
}
