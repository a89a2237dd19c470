package feed

import (
	"cmp"
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/runtime/outputs"
)

// Feed makes the rows of one job, with windows of one length.
type Feed struct {
	window   time.Duration
	started  time.Time // of the job, UTC
	revision uint64    // of the newest rows
	at       time.Duration
	job      string
	test     string
	parts    map[part]*flow
}

// part is a workflow in a datacenter; the whole job has no datacenter.
type part struct{ datacenter, workflow string }

// flow is what rows have told of a part.
type flow struct {
	steps map[stepKey]*series
	order []stepKey
	lost  uint64 // requests of attempts that count nowhere, as last reported
	fresh uint64 // of those, the ones whose figures may be in the rows
}

type stepKey struct {
	name string
	kind message.StepKind
}

// series is what rows have told of a step: base = sum of windows - sum of lost.
type series struct {
	base   message.StepStats
	from   time.Duration // where its next row begins
	waited int           // boundaries at which a row could not say its distribution
}

// New makes a feed for a job that began at started, by this machine's clock.
func New(window time.Duration, started time.Time) *Feed {
	return &Feed{window: window, started: started.UTC().Truncate(time.Millisecond), parts: map[part]*flow{}}
}

// Apply returns the rows that a status completes: none between two boundaries.
func (f *Feed) Apply(s *message.JobStatus) (rows []outputs.Row) {
	if f.job == "" {
		f.job, f.test = s.Job.String(), s.Name
		rows = append(rows, f.row(outputs.RowRun))
		rows[0].Run = &outputs.Run{}
	}
	to := s.Elapsed.Truncate(f.window)
	if s.State.Terminal() || to <= f.at {
		return rows // the result has all that a last status has
	}
	f.at, f.revision = to, f.revision+1
	for i := range s.Datacenters {
		d := &s.Datacenters[i]
		for k := range d.Workflows {
			rows = append(rows, f.cut(part{d.Name, d.Workflows[k].Name}, &d.Workflows[k], to, false)...)
		}
	}
	for _, w := range merged(s.Datacenters) {
		rows = append(rows, f.cut(part{"", w.Name}, &w, to, false)...)
	}
	return rows
}

// cut returns the rows of a part up to a boundary. In the end nothing more is waited for.
func (f *Feed) cut(p part, w *message.WorkflowResult, to time.Duration, end bool) (rows []outputs.Row) {
	flow := f.parts[p]
	if flow == nil {
		flow = newFlow()
		f.parts[p] = flow
	}
	now := flow.see(w)
	gone := end || flow.gone(now)
	for _, key := range flow.order {
		s := flow.steps[key]
		more, less, ok := s.next(now[key], gone)
		if !ok {
			continue // a manager has not heard of all workers yet: the next row is wider
		}
		if more != nil {
			rows = append(rows, f.figures(outputs.RowWindow, p, key, s.from, to, more))
			rows[len(rows)-1].Figures.ActiveUsers = active(w)
		}
		if less != nil {
			rows = append(rows, f.figures(outputs.RowLost, p, key, s.from, to, less))
		}
		s.from, s.base = to, message.StepStats{}
		if now[key] != nil {
			s.base = *now[key]
		}
	}
	return rows
}

func newFlow() *flow { return &flow{steps: map[stepKey]*series{}} }

// see takes the steps of a report, and which attempts count no more.
func (l *flow) see(w *message.WorkflowResult) map[stepKey]*message.StepStats {
	now := map[stepKey]*message.StepStats{}
	for i := range w.Stats.Steps {
		s := &w.Stats.Steps[i]
		if !counted(s.Kind) {
			continue
		}
		key := stepKey{s.Name, s.Kind}
		now[key] = s
		if l.steps[key] == nil {
			l.steps[key] = &series{}
			l.order = append(l.order, key)
		}
	}
	sum := uint64(0)
	for i := range w.Lost {
		if !w.Lost[i].Counted {
			sum += w.Lost[i].Started
		}
	}
	l.fresh += max(sum, l.lost) - l.lost
	l.lost = max(sum, l.lost)
	return now
}

// gone says that the requests that a report lacks are those of attempts that count no more. An attempt counts calls
// of functions and the requests of other steps, and none of a function's own requests.
func (l *flow) gone(now map[stepKey]*message.StepStats) bool {
	missing := uint64(0)
	//lint:orderfree a sum does not depend on order
	for key, s := range l.steps {
		if !key.kind.Measured() {
			continue
		}
		had := uint64(0)
		if now[key] != nil {
			had = now[key].Started
		}
		missing += s.base.Started - min(s.base.Started, had)
	}
	if missing == 0 { // others have sent more than was lost: the rows have nothing of it to take back
		l.fresh = 0
	}
	if missing == 0 || missing > l.fresh {
		return false
	}
	l.fresh = 0
	return true
}

// counted says that rows tell of a kind of steps.
func counted(k message.StepKind) bool {
	return k == message.StepRequest || k == message.StepFunction || k == message.StepPart || k == message.StepBeside
}

func active(w *message.WorkflowResult) uint64 {
	if w.State.Terminal() {
		return 0
	}
	return w.Stats.Active
}

// row begins a row.
func (f *Feed) row(kind outputs.RowKind) outputs.Row {
	r := outputs.Row{Kind: kind, Job: f.job, Test: f.test, Started: f.started}
	r.Version.SetRevision(f.revision)
	return r
}

func (f *Feed) figures(kind outputs.RowKind, p part, key stepKey, from, to time.Duration, figures *outputs.Figures) outputs.Row {
	r := f.row(kind)
	r.Datacenter, r.Workflow, r.Step, r.StepKind = p.datacenter, p.workflow, key.name, key.kind
	r.From, r.To, r.Figures = from, to, figures
	return r
}

// merged are the workflows over all datacenters, in the order of their first report.
func merged(all []message.DatacenterResult) (out []message.WorkflowResult) {
	parts := map[string][]*message.WorkflowResult{}
	var names []string
	for i := range all {
		for k := range all[i].Workflows {
			w := &all[i].Workflows[k]
			if parts[w.Name] == nil {
				names = append(names, w.Name)
			}
			parts[w.Name] = append(parts[w.Name], w)
		}
	}
	for _, name := range names {
		sum := message.WorkflowResult{Name: name}
		var figures []*message.Stats
		for _, w := range parts[name] {
			bare := message.Stats{Active: active(w)}
			for i := range w.Stats.Steps {
				s := w.Stats.Steps[i]
				s.Windows, s.Phases, s.Measures = message.Windows{}, nil, message.Measures{}
				bare.Steps = append(bare.Steps, s)
			}
			figures = append(figures, &bare)
			sum.Lost = append(sum.Lost, w.Lost...)
			sum.State = cmp.Or(sum.State, message.WorkflowRunning)
		}
		var err error
		if sum.Stats, err = stats.Sum(figures); err != nil {
			continue // a figure that cannot be read makes the next row wider
		}
		out = append(out, sum)
	}
	return slices.Clip(out)
}
