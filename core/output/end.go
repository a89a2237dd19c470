package output

import (
	"cmp"
	"slices"
	"time"

	"hyperscale/core/message"
)

// Finish returns the last windows, what no result counts, and the rows of the result. Run says what the result does
// not: the program's digest and the version of hyperscale, as far as they are known.
func (l *Ledger) Finish(r *message.Result, run Run) (rows []Row) {
	l.begun, l.revision = true, l.revision+1
	to := max(l.at+time.Millisecond, r.Duration)
	known := map[part]bool{}
	take := func(datacenter string, flows []message.WorkflowResult) {
		for i := range flows {
			p := part{datacenter, flows[i].Name}
			known[p] = true
			rows = append(rows, l.cut(p, &flows[i], to, true)...)
			rows = append(rows, l.result(p, &flows[i])...)
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
	for _, p := range l.told() {
		if !known[p] && !unknown[p.datacenter] {
			rows = append(rows, l.cut(p, &message.WorkflowResult{Name: p.workflow}, to, true)...)
		}
	}
	for i := range r.Thresholds {
		rows = append(rows, l.threshold(&r.Thresholds[i]))
	}
	return append(rows, l.ended(r, run))
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
func (l *Ledger) told() (all []part) {
	//lint:orderfree they are sorted
	for p := range l.parts {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b part) int {
		return cmp.Or(cmp.Compare(a.datacenter, b.datacenter), cmp.Compare(a.workflow, b.workflow))
	})
	return all
}

// result is a row for each step and each check of a part.
func (l *Ledger) result(p part, w *message.WorkflowResult) (rows []Row) {
	for i := range w.Stats.Steps {
		s := &w.Stats.Steps[i]
		figures := figuresOf(s, &message.StepStats{})
		kind := RowResult
		switch {
		case counted(s.Kind):
			if figures.Blunt = l.blunt; !l.blunt {
				figures.Latency, figures.Service = s.Latency, s.Service
			}
		case s.Kind == message.StepCheck:
			kind = RowCheck
		default:
			continue
		}
		row := l.figures(kind, p, stepKey{s.Name, s.Kind}, 0, 0, figures)
		if w.Duration > 0 {
			row.To = w.Duration
		}
		rows = append(rows, row)
	}
	return rows
}

func (l *Ledger) threshold(t *message.ThresholdResult) Row {
	row := l.row(RowThreshold)
	row.Workflow = t.Workflow
	row.Threshold = &Threshold{Expression: t.Expr, Value: float64(t.Value), Of: t.Of.Name(), Met: t.OK, Unmeasured: t.Unmeasured}
	return row
}

// ended is the job's row at its end.
func (l *Ledger) ended(r *message.Result, run Run) Row {
	row := l.row(RowRun)
	run.Ended, run.Outcome, run.ThresholdsOK = l.started.Add(r.Duration).Truncate(time.Millisecond), r.State.String(), true
	for i := range r.Thresholds {
		run.ThresholdsOK = run.ThresholdsOK && r.Thresholds[i].OK
	}
	for i := range r.Workflows {
		w := &r.Workflows[i]
		started, _, _ := w.Stats.Requests()
		run.Requests += started
		run.Saturated = run.Saturated || w.Stats.Generator.Saturated || w.Stats.Generator.Starved
		for k := range w.Lost {
			if !w.Lost[k].Counted {
				run.LostRequests += w.Lost[k].Started
			}
		}
	}
	row.Run = &run
	return row
}
