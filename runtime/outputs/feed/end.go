package feed

import (
	"cmp"
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/runtime/outputs"
	"hyperscale/runtime/report"
)

// Finish returns the last windows, what no result counts, and the rows of the result.
func (f *Feed) Finish(r *message.Result, built *report.Result) (rows []outputs.Row) {
	f.job, f.test, f.revision = r.Job.String(), r.Name, f.revision+1
	to := max(f.at+time.Millisecond, r.Duration)
	known := map[part]bool{}
	take := func(datacenter string, flows []message.WorkflowResult) {
		for i := range flows {
			p := part{datacenter, flows[i].Name}
			known[p] = true
			rows = append(rows, f.cut(p, &flows[i], to, true)...)
			rows = append(rows, f.result(p, &flows[i])...)
		}
	}
	unknown, cut := map[string]bool{}, sizedOut(r)
	for i := range r.Datacenters {
		d := &r.Datacenters[i]
		if left := slices.Contains(r.Missing, d.Name); left {
			continue // its figures count nowhere
		}
		if unknown[d.Name] = cut && begun(d.Workflows) == 0; !unknown[d.Name] {
			take(d.Name, d.Workflows)
		}
	}
	take("", r.Workflows)
	for _, p := range f.told() {
		if !known[p] && !unknown[p.datacenter] {
			rows = append(rows, f.cut(p, &message.WorkflowResult{Name: p.workflow}, to, true)...)
		}
	}
	for i := range r.Thresholds {
		rows = append(rows, f.threshold(&r.Thresholds[i]))
	}
	return append(rows, f.ended(r, built))
}

// sizedOut says that a result lacks the steps of some datacenters, since they did not fit a frame: the whole has more
// requests than those datacenters that have steps.
func sizedOut(r *message.Result) bool {
	var parts uint64
	for i := range r.Datacenters {
		if d := &r.Datacenters[i]; !slices.Contains(r.Missing, d.Name) {
			parts += begun(d.Workflows)
		}
	}
	return begun(r.Workflows) > parts
}

func begun(flows []message.WorkflowResult) (sum uint64) {
	for i := range flows {
		for k := range flows[i].Stats.Steps {
			if s := &flows[i].Stats.Steps[k]; counted(s.Kind) {
				sum += s.Started
			}
		}
	}
	return sum
}

// told are the parts that rows tell of, in an order.
func (f *Feed) told() (all []part) {
	//lint:orderfree they are sorted
	for p := range f.parts {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b part) int {
		return cmp.Or(cmp.Compare(a.datacenter, b.datacenter), cmp.Compare(a.workflow, b.workflow))
	})
	return all
}

// result is a row for each step and each check of a part.
func (f *Feed) result(p part, w *message.WorkflowResult) (rows []outputs.Row) {
	for i := range w.Stats.Steps {
		s := &w.Stats.Steps[i]
		figures := figuresOf(s, &message.StepStats{})
		kind := outputs.RowResult
		switch {
		case counted(s.Kind):
			figures.Latency, figures.Service = s.Latency, s.Service
		case s.Kind == message.StepCheck:
			kind = outputs.RowCheck
		default:
			continue
		}
		row := f.figures(kind, p, stepKey{s.Name, s.Kind}, 0, 0, figures)
		if w.Duration > 0 {
			row.To = w.Duration
		}
		rows = append(rows, row)
	}
	return rows
}

func (f *Feed) threshold(t *message.ThresholdResult) outputs.Row {
	row := f.row(outputs.RowThreshold)
	row.Workflow = t.Workflow
	row.Threshold = &outputs.Threshold{Expression: t.Expr, Value: float64(t.Value), Of: report.OfName(t.Of), Met: t.OK, Unmeasured: t.Unmeasured}
	return row
}

// ended is the job's row at its end.
func (f *Feed) ended(r *message.Result, built *report.Result) outputs.Row {
	row := f.row(outputs.RowRun)
	run := &outputs.Run{
		Ended: f.started.Add(r.Duration).Truncate(time.Millisecond), Outcome: r.State.String(), ThresholdsOK: true,
		Saturated: built.Generator.Saturated || built.Generator.Starved, Requests: built.Requested.Started,
	}
	for i := range r.Thresholds {
		run.ThresholdsOK = run.ThresholdsOK && r.Thresholds[i].OK
	}
	for i := range r.Workflows {
		for k := range r.Workflows[i].Lost {
			if l := &r.Workflows[i].Lost[k]; !l.Counted {
				run.LostRequests += l.Started
			}
		}
	}
	if built.Run != nil {
		run.Version, run.ProgramDigest = built.Run.Version, built.Run.ProgramDigest()
	}
	row.Run = run
	return row
}
