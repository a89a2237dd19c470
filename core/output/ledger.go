package output

import (
	"cmp"
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/stats"
)

// Ledger makes the rows of one job, with windows of one length.
type Ledger struct {
	window   time.Duration
	started  time.Time     // of the job, UTC
	epoch    uint64        // of the job's owner; zero: a command makes the rows
	revision uint64        // of the newest rows
	at       time.Duration // boundary of the newest rows
	job      message.JobID
	test     string // the file's name
	begun    bool   // it has made a row
	blunt    bool   // its rows have counts alone
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

// New makes a ledger for a job that began at started, by a clock that the caller chooses.
func New(job message.JobID, test string, window time.Duration, started time.Time) *Ledger {
	return &Ledger{job: job, test: test, window: window, started: started.UTC().Truncate(time.Millisecond), parts: map[part]*flow{}}
}

// Own says which owner of the job makes the rows from now on, by the epoch of its fence.
func (l *Ledger) Own(epoch uint64) { l.epoch = epoch }

// Due says that a job of that age has windows that no row tells of.
func (l *Ledger) Due(elapsed time.Duration) bool { return elapsed.Truncate(l.window) > l.at }

// At is the boundary of the newest rows.
func (l *Ledger) At() time.Duration { return l.at }

// Apply returns the rows that a status completes: none between two boundaries.
func (l *Ledger) Apply(s *message.JobStatus) (rows []Row) {
	if !l.begun {
		l.begun = true
		rows = append(rows, l.row(RowRun))
		rows[0].Run = &Run{}
	}
	to := s.Elapsed.Truncate(l.window)
	if s.State.Terminal() || to <= l.at {
		return rows // the result has all that a last status has
	}
	l.at, l.revision = to, l.revision+1
	for i := range s.Datacenters {
		d := &s.Datacenters[i]
		for k := range d.Workflows {
			rows = append(rows, l.cut(part{d.Name, d.Workflows[k].Name}, &d.Workflows[k], to, false)...)
		}
	}
	for _, w := range merged(s.Datacenters) {
		rows = append(rows, l.cut(part{"", w.Name}, &w, to, false)...)
	}
	return rows
}

// cut returns the rows of a part up to a boundary. In the end nothing more is waited for.
func (l *Ledger) cut(p part, w *message.WorkflowResult, to time.Duration, end bool) (rows []Row) {
	flow := l.parts[p]
	if flow == nil {
		flow = newFlow()
		l.parts[p] = flow
	}
	now := flow.see(w)
	gone := end || flow.gone(now)
	for _, key := range flow.order {
		s := flow.steps[key]
		more, less, ok := s.next(now[key], gone, l.blunt)
		if !ok {
			continue // a manager has not heard of all workers yet: the next row is wider
		}
		if more != nil {
			rows = append(rows, l.figures(RowWindow, p, key, s.from, to, more))
			rows[len(rows)-1].Figures.ActiveUsers = active(w)
		}
		if less != nil {
			rows = append(rows, l.figures(RowLost, p, key, s.from, to, less))
		}
		s.from, s.base = to, message.StepStats{}
		if now[key] != nil {
			s.base = bare(now[key], l.blunt)
		}
	}
	return rows
}

// bare is what the next row needs of a report.
func bare(s *message.StepStats, blunt bool) message.StepStats {
	out := *s
	out.Windows, out.Phases, out.Measures, out.Metric = message.Windows{}, nil, message.Measures{}, message.Histogram{}
	if blunt {
		out.Latency, out.Service = message.Histogram{}, message.Histogram{}
	}
	return out
}

func newFlow() *flow { return &flow{steps: map[stepKey]*series{}} }

// see takes the steps of a report, and which attempts count no more.
func (f *flow) see(w *message.WorkflowResult) map[stepKey]*message.StepStats {
	now := map[stepKey]*message.StepStats{}
	for i := range w.Stats.Steps {
		s := &w.Stats.Steps[i]
		if !counted(s.Kind) {
			continue
		}
		key := stepKey{s.Name, s.Kind}
		now[key] = s
		if f.steps[key] == nil {
			f.steps[key] = &series{}
			f.order = append(f.order, key)
		}
	}
	sum := uint64(0)
	for i := range w.Lost {
		if !w.Lost[i].Counted {
			sum += w.Lost[i].Started
		}
	}
	f.fresh += max(sum, f.lost) - f.lost
	f.lost = max(sum, f.lost)
	return now
}

// gone says that the requests that a report lacks are those of attempts that count no more. An attempt counts calls
// of functions and the requests of other steps, and none of a function's own requests.
func (f *flow) gone(now map[stepKey]*message.StepStats) bool {
	missing := uint64(0)
	//lint:orderfree a sum does not depend on order
	for key, s := range f.steps {
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
		f.fresh = 0
	}
	if missing == 0 || missing > f.fresh {
		return false
	}
	f.fresh = 0
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
func (l *Ledger) row(kind RowKind) Row {
	r := Row{Kind: kind, Job: l.job.String(), Test: l.test, Started: l.started}
	r.Version.Set(l.epoch, l.revision)
	return r
}

func (l *Ledger) figures(kind RowKind, p part, key stepKey, from, to time.Duration, figures *Figures) Row {
	r := l.row(kind)
	r.Datacenter, r.Workflow, r.Step, r.StepKind = p.datacenter, p.workflow, key.name, key.kind
	r.From, r.To, r.Figures = from, to, figures
	return r
}

// merged are the workflows over all datacenters, in the order of their first report.
func merged(places []message.DatacenterResult) (out []message.WorkflowResult) {
	parts := map[string][]*message.WorkflowResult{}
	var names []string
	for i := range places {
		for k := range places[i].Workflows {
			w := &places[i].Workflows[k]
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
			all := message.Stats{Active: active(w)}
			for i := range w.Stats.Steps {
				all.Steps = append(all.Steps, bare(&w.Stats.Steps[i], false))
			}
			figures = append(figures, &all)
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
