package live

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/runtime/export"
	"hyperscale/runtime/report"
	"hyperscale/runtime/ui"
	"hyperscale/runtime/ui/units"
)

// Bounds of what a view lists. A page that shows more has no reader.
const (
	stepsMost  = 200
	errorsMost = 50
	marksMost  = 100
	textMost   = 500
)

// Fold makes views of a job's statuses.
type Fold struct {
	model     *ui.Model
	accepted  time.Time
	sequence  uint64
	takeovers uint64
	state     message.JobState
	marks     []Mark
	known     map[string]bool // marks of attempts and of datacenters
	late      report.Lateness
	sinks     []message.SinkReport // as a status last said
	latest    *message.JobStatus
	end       *message.Result // nil: it has not ended
}

// NewFold begins without a status.
func NewFold() *Fold {
	return &Fold{model: ui.NewModel("", &message.Plan{}), known: map[string]bool{}}
}

// Apply takes a status. Statuses may come twice and out of order.
func (f *Fold) Apply(s *message.JobStatus, now time.Time) {
	if f.model.Stale(s) || f.end != nil {
		return
	}
	if f.accepted.IsZero() {
		f.accepted = now.Add(-s.Elapsed)
	}
	f.model.Apply(s)
	f.mark(s)
	f.late.See(s)
	f.latest, f.sinks = s, s.Sinks.List
	f.sequence++
}

// Finish takes the job's end, and how far its sinks are.
func (f *Fold) Finish(r *message.Result, sinks message.SinkReports, now time.Time) {
	s := &message.JobStatus{Job: r.Job, Name: r.Name, State: r.State, Reason: r.Error, Elapsed: r.Duration, Datacenters: r.Datacenters, Takeovers: f.takeovers, Sinks: sinks}
	if f.latest != nil {
		s.Sequence, s.Elapsed = f.latest.Sequence, max(s.Elapsed, f.latest.Elapsed)
		if len(s.Datacenters) == 0 { // the gates keep its figures no longer
			s.Datacenters = f.latest.Datacenters
		}
	}
	f.Apply(s, now)
	f.end = r
}

// mark notes what happened between two statuses.
func (f *Fold) mark(s *message.JobStatus) {
	origin, began := originOf(partsOf(s))
	at := int64(-1)
	if began && f.latest != nil {
		at = int64(max(0, s.Elapsed-origin))
	}
	if s.Takeovers > f.takeovers {
		text := "a gate took the job over; the load goes on"
		if n := s.Takeovers - f.takeovers; n > 1 {
			text = fmt.Sprintf("gates took the job over %s; the load goes on", units.Counted(n, "time"))
		}
		f.add(Mark{AtNS: at, Kind: "takeover", Text: text})
	}
	if s.State != f.state && (s.State == message.JobCancelled || s.State == message.JobFailed || s.State == message.JobTimedOut) {
		f.add(Mark{AtNS: at, Kind: "abort", Text: short(s.State.String() + because(s.Reason))})
	}
	f.takeovers, f.state = max(f.takeovers, s.Takeovers), s.State
	f.markPlaces(s, origin, at)
	for i := range s.Datacenters {
		d := &s.Datacenters[i]
		for k := range d.Workflows {
			w := &d.Workflows[k]
			for _, lost := range w.Lost {
				key := fmt.Sprintf("%s %s %v %d", d.Name, w.Name, lost.Shard, lost.Attempt)
				if f.known[key] || len(f.known) >= 10*marksMost {
					continue
				}
				f.known[key] = true
				f.add(Mark{AtNS: int64(max(0, w.Began+lost.Until-origin)), Kind: "lost", Text: short(cmp.Or(lost.Worker, "a worker") + " in " + d.Name + " lost its share of " + w.Name + because(lost.Reason))})
			}
		}
	}
}

// markPlaces notes datacenters that failed while the job goes on, and those that it left.
func (f *Fold) markPlaces(s *message.JobStatus, origin time.Duration, at int64) {
	note := func(name, text string, when int64) {
		if key := "datacenter " + name + text; !f.known[key] && len(f.known) < 10*marksMost {
			f.known[key] = true
			f.add(Mark{AtNS: when, Kind: "lost", Text: short("datacenter " + name + " " + text)})
		}
	}
	if s.State.Terminal() {
		return
	}
	parts := partsOf(s)
	for i := range s.Datacenters {
		d := &s.Datacenters[i]
		if d.State != message.JobFailed {
			continue
		}
		when := at
		for k := range parts {
			if parts[k].place == d.Name {
				when = max(when, int64(parts[k].result.Began+parts[k].result.Stats.Elapsed-origin))
			}
		}
		note(d.Name, "failed"+because(d.Error), when)
	}
	if f.latest == nil {
		return
	}
	for i := range f.latest.Datacenters {
		if name := f.latest.Datacenters[i].Name; !slices.ContainsFunc(s.Datacenters, func(d message.DatacenterResult) bool { return d.Name == name }) {
			note(name, "is lost: the job has left it", at)
		}
	}
}

// lateMarks are the times at which sinks were behind.
func (f *Fold) lateMarks(origin time.Duration) (all []Mark) {
	for i := range f.sinks {
		s := &f.sinks[i]
		for _, l := range f.late.Of(s.Name) {
			from := max(0, l.FromNS-int64(origin))
			all = append(all, Mark{AtNS: from, UntilNS: max(from, l.UntilNS-int64(origin)), Kind: "sink", Text: short("sink " + s.Name + " was behind")})
		}
	}
	return all
}

// sinksOf shows the sinks as they stand.
func (f *Fold) sinksOf() []Sink {
	all := []Sink{}
	for _, s := range report.SinksOf(f.sinks) {
		word, health := s.State()
		all = append(all, Sink{
			Name: short(s.Name), Kind: short(s.Kind), State: word, Health: health, Delivered: s.Delivered, ThroughNS: s.ThroughNS, BehindNS: s.BehindNS,
			Lost: s.Lost, Rejected: s.Rejected, PerhapsTwice: s.PerhapsTwice, Done: s.Done, Why: short(s.Why()),
		})
	}
	return all
}

// add keeps the newest marks, by when they happened.
func (f *Fold) add(m Mark) {
	f.marks = append(f.marks, m)
	slices.SortStableFunc(f.marks, func(a, b Mark) int { return cmp.Compare(a.AtNS, b.AtNS) })
	f.marks = f.marks[max(0, len(f.marks)-marksMost):]
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

// short bounds text from outside.
func short(s string) string { return units.Shorten(units.Clean(s), textMost) }

// originOf is where in the job's time the load began; false: it has not.
func originOf(parts []part) (origin time.Duration, began bool) {
	for i := range parts {
		if at := parts[i].result.Began; !began || at < origin {
			origin, began = at, true
		}
	}
	return origin, began
}

// View is the job as the newest status describes it. ok is false before the first one.
func (f *Fold) View() (v View, ok bool, err error) {
	s := f.latest
	if s == nil {
		return View{}, false, nil
	}
	now, err := export.Live(s, f.accepted)
	if err != nil {
		return View{}, false, err
	}
	r := now.Result
	v = View{
		Job: s.Job.String(), Name: short(cmp.Or(s.Name, f.model.Name)), State: s.State.String(), Reason: short(s.Reason), Position: s.Position, Sequence: f.sequence,
		Ended: f.end != nil, Takeovers: f.takeovers, Totals: r.Requested,
		Steps: []Step{}, Errors: []Failure{}, Places: []Place{}, Sinks: f.sinksOf(), Marks: append([]Mark{}, f.marks...),
	}
	done, planned := f.model.Progress()
	v.Clock = Clock{int64(s.Elapsed), int64(done), int64(planned)}
	p := f.model.Now()
	v.Now = Now{p.RateMilli, p.FailMilli, p.P50, p.P99, f.model.Active()}
	v.Latency = latencyOf(r)
	v.Trust = trustOf(r, s)
	v.Thresholds = f.thresholds()
	v.list(r)
	parts := partsOf(s)
	origin, _ := originOf(parts)
	v.Course = courseOf(parts, origin)
	v.Marks = append(v.Marks, f.lateMarks(origin)...)
	for i := range s.Datacenters {
		v.Places = append(v.Places, placeOf(&s.Datacenters[i], parts, origin, r.Requested.Started))
	}
	return v, true, nil
}

// latencyOf merges the latencies of all requests.
func latencyOf(r *report.Result) report.Distribution {
	all := new(stats.Histogram)
	for i := range r.Workflows {
		for _, s := range r.Workflows[i].Leaves() {
			if h, err := s.Buckets.Histogram(); err == nil {
				all.Merge(h)
			}
		}
	}
	if all.Count() == 0 {
		return report.Distribution{}
	}
	return report.Distribution{
		Count: all.Count(), Min: all.Min(), Mean: all.Mean(), P50: all.Quantile(500_000), P90: all.Quantile(900_000), P95: all.Quantile(950_000),
		P99: all.Quantile(990_000), P999: all.Quantile(999_000), Max: all.Max(),
	}
}

// trustOf says whether the figures are those of the target, or whose else.
func trustOf(r *report.Result, s *message.JobStatus) Trust {
	t := Trust{Word: "yes", Why: []string{}}
	if r.Requested.Started == 0 {
		t.Word = "unknown"
	}
	t.Why = append(t.Why, ui.Doubts(r)...)
	for i := range r.Workflows {
		w := &r.Workflows[i]
		if text := lossText(s, w.Name); text != "" {
			t.Why = append(t.Why, text)
		}
		if text := w.Generator.MemoryText(); text != "" && w.Generator.Throttled() {
			t.Why = append(t.Why, short(w.Name)+": "+text)
		}
		if w.Generator.Dropped > 0 {
			t.Why = append(t.Why, fmt.Sprintf("%s: %s never began, as no virtual user was free: the load is less than asked. Give it more virtual users.", short(w.Name), units.Counted(w.Generator.Dropped, "iteration")))
		}
	}
	if len(t.Why) > 0 {
		t.Word = "no"
	}
	return t
}

// lossText says what the lost attempts of a workflow cost; empty: there are none.
func lossText(s *message.JobStatus, name string) string {
	var lost uint64
	var unreported time.Duration
	for i := range s.Datacenters {
		for k := range s.Datacenters[i].Workflows {
			if w := &s.Datacenters[i].Workflows[k]; w.Name == name {
				lost += uint64(len(w.Lost))
				for _, l := range w.Lost {
					unreported += l.Unreported
				}
			}
		}
	}
	if lost == 0 {
		return ""
	}
	text := short(name) + ": " + units.Counted(lost, "attempt") + " lost"
	if unreported > 0 {
		text += "; the target has seen at most " + units.Duration(unreported) + " of load that is in no figure here"
	}
	return text + "."
}

// thresholds are those of the plan as they stand, or at the end the verdicts of the result.
func (f *Fold) thresholds() []Threshold {
	all := []Threshold{}
	for _, t := range f.model.Standings() {
		all = append(all, thresholdOf(&t))
	}
	if f.end == nil {
		return all
	}
	last := []Threshold{}
	for _, t := range f.end.Thresholds {
		got := report.Threshold{Workflow: t.Workflow, Expr: t.Expr, Of: t.Of.Name(), Value: t.Value, OK: t.OK, FromNS: int64(t.From), UntilNS: int64(t.Until), Unmeasured: t.Unmeasured}
		one := Threshold{Workflow: short(t.Workflow), Expr: short(t.Expr), Known: true, OK: t.OK, Value: ui.ThresholdValue(got)}
		if at := slices.IndexFunc(all, func(o Threshold) bool { return o.Workflow == one.Workflow && o.Expr == one.Expr }); at >= 0 {
			one.Plot, one.Bound = all[at].Plot, all[at].Bound
		}
		last = append(last, one)
	}
	return last
}

// thresholdOf places a threshold as a line where a plot shows its figure.
func thresholdOf(t *ui.Standing) Threshold {
	out := Threshold{Workflow: short(t.Workflow), Expr: short(t.Expr), Known: t.Known, OK: t.OK, Bound: t.Plan.Bound}
	if t.Known {
		out.Value = ui.ThresholdValue(t.Threshold)
	}
	switch t.Plan.Of {
	case message.OfLatency:
		if t.Plan.Statistic == message.StatQuantile {
			out.Plot = "latency"
		}
	case message.OfErrors:
		out.Plot = "errors"
	case message.OfRate:
		out.Plot = "rate"
	}
	return out
}

// list fills steps and failures.
func (v *View) list(r *report.Result) {
	for i := range r.Workflows {
		w := &r.Workflows[i]
		for _, s := range w.Shown() {
			if len(v.Steps) == stepsMost {
				break
			}
			v.Steps = append(v.Steps, Step{short(w.Name), short(s.Name), s.Started, s.OK, s.Failed, s.TimedOut, s.RateMilli, s.LatencyNS.P50, s.LatencyNS.P99, s.LatencyNS.Max})
		}
		for _, e := range w.Failures() {
			v.Errors = append(v.Errors, Failure{short(e.Step), short(e.Kind), short(e.Example), e.Count})
		}
	}
	slices.SortStableFunc(v.Errors, func(a, b Failure) int { return cmp.Compare(b.Count, a.Count) })
	v.Errors = v.Errors[:min(len(v.Errors), errorsMost)]
}
