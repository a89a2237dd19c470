package report

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/core/verdict"
)

// Build makes the file's contents of a job's result. It fails on histograms that
// no executor could have written. The zero startedAt is a time that the caller does not know.
func Build(r *message.Result, startedAt time.Time) (*Result, error) {
	out := &Result{
		Schema: Schema, Job: r.Job.String(), Name: r.Name, Outcome: r.State.String(), Error: r.Error,
		DurationNS:  int64(r.Duration),
		Datacenters: map[string]Datacenter{}, Thresholds: []Threshold{}, Turns: r.Turns, Missing: r.Missing, Restored: r.Restored,
	}
	if !startedAt.IsZero() {
		out.StartedAt = startedAt.Format(time.RFC3339Nano)
	}
	var err error
	if out.Workflows, out.Totals, out.Requested, err = buildWorkflows(r.Workflows); err != nil {
		return nil, err
	}
	if err = addBuckets(out.Workflows, r.Workflows); err != nil {
		return nil, err
	}
	if out.Generator, err = buildGenerators(r.Workflows); err != nil {
		return nil, err
	}
	for _, d := range r.Datacenters {
		part := Datacenter{Outcome: d.State.String(), Error: d.Error, DurationNS: int64(d.Duration)}
		if len(d.Workflows) > 0 && !slices.Contains(r.Missing, d.Name) {
			part.Figures = &Figures{Workers: buildWorkers(d.Workers)}
			if part.Workflows, part.Totals, part.Requested, err = buildWorkflows(d.Workflows); err != nil {
				return nil, fmt.Errorf("datacenter %s: %w", d.Name, err)
			}
		}
		out.Datacenters[d.Name] = part
	}
	for _, t := range r.Thresholds {
		out.Thresholds = append(out.Thresholds, Threshold{Workflow: t.Workflow, Expr: t.Expr, Of: t.Of.Name(), Value: t.Value, OK: t.OK, FromNS: int64(t.From), UntilNS: int64(t.Until), Unmeasured: t.Unmeasured})
	}
	return out, nil
}

func buildWorkflows(in []message.WorkflowResult) (out []Workflow, total, requested Totals, err error) {
	out = []Workflow{}
	for i := range in {
		w, err := buildWorkflow(&in[i])
		if err != nil {
			return nil, total, requested, fmt.Errorf("workflow %s: %w", in[i].Name, err)
		}
		out = append(out, w)
		total.Add(w.Totals)
		requested.Add(w.Requested)
	}
	return out, total, requested, nil
}

// addBuckets keeps the histograms of the whole job's steps: curves and comparisons
// need all of them. Those of each datacenter would make the file so many times as large.
func addBuckets(out []Workflow, in []message.WorkflowResult) error {
	for i := range in {
		for k := range in[i].Stats.Steps {
			s := &in[i].Stats.Steps[k]
			step := out[i].find(s)
			if step == nil {
				continue
			}
			h, err := stats.FromWire(s.Latency)
			if err != nil {
				return err
			}
			step.Buckets = bucketsOf(h)
			_, points, err := stats.Points(s.Windows, in[i].Interval)
			if err != nil {
				return err
			}
			for w := range points {
				step.Course.Windows[w].Buckets = bucketsOfWindow(&points[w].Window)
			}
		}
	}
	return nil
}

// find returns the row of a step's figures; nil: it has none.
func (w *Workflow) find(s *message.StepStats) *Step {
	list := w.Steps
	switch s.Kind {
	case message.StepPart:
		list = w.Requests
	case message.StepBeside:
		list = w.Beside
	}
	if at := slices.IndexFunc(list, func(o Step) bool { return o.Name == s.Name }); at >= 0 {
		return &list[at]
	}
	return nil
}

// Shown returns the steps, each with the requests of its function behind it, then the requests of
// what is no measured step. A function's only request is left out if it says the same.
func (w *Workflow) Shown() (all []Step) {
	shown := map[string]bool{}
	for i := range w.Steps {
		s := &w.Steps[i]
		all = append(all, *s)
		mine := w.of(s.Name)
		if s.alone(mine) && s.Measures == nil {
			all[len(all)-1].Measures = mine[0].Measures
		}
		for k := range mine {
			shown[mine[k].Name] = true
			if !s.alone(mine) {
				all = append(all, mine[k])
			}
		}
	}
	for i := range w.Requests {
		if !shown[w.Requests[i].Name] {
			all = append(all, w.Requests[i])
		}
	}
	return all
}

// alone reports whether a function sends one request whose row says the same as its own.
func (s *Step) alone(mine []Step) bool {
	return len(mine) == 1 && mine[0].OK == s.OK && mine[0].Failed == s.Failed && mine[0].TimedOut == s.TimedOut
}

// of returns the requests of a step's function.
func (w *Workflow) of(step string) (mine []Step) {
	for i := range w.Requests {
		if strings.HasPrefix(w.Requests[i].Name, step+"/") {
			mine = append(mine, w.Requests[i])
		}
	}
	return mine
}

// Leaves returns the rows that count requests of the load, each of which is in one of them. A
// function's only request has the name of its step if its row says the same.
func (w *Workflow) Leaves() (all []Step) {
	done := map[string]bool{}
	for i := range w.Steps {
		s := &w.Steps[i]
		switch mine := w.of(s.Name); {
		case s.Kind == kindName(message.StepRequest) || len(mine) == 0:
			all = append(all, *s)
		case s.alone(mine):
			done[mine[0].Name] = true
			one := mine[0]
			one.Name = s.Name
			all = append(all, one)
		}
	}
	for i := range w.Requests {
		if !done[w.Requests[i].Name] {
			all = append(all, w.Requests[i])
		}
	}
	return all
}

// Failure is one kind of failure of a step, or of the requests that its function sent under a name.
type Failure struct {
	Step string
	Error
}

// Failures lists what failed. A function that failed with its request is listed once, by the
// request.
func (w *Workflow) Failures() (all []Failure) {
	for i := range w.Steps {
		mine := w.of(w.Steps[i].Name)
		if w.Steps[i].alone(mine) {
			mine = nil
		}
		for _, e := range w.Steps[i].Errors {
			if !slices.ContainsFunc(mine, func(s Step) bool {
				return slices.ContainsFunc(s.Errors, func(o Error) bool { return o.Kind == e.Kind })
			}) {
				all = append(all, Failure{w.Steps[i].Name, e})
			}
		}
	}
	for i := range w.Requests {
		step, _, _ := strings.Cut(w.Requests[i].Name, "/")
		at := slices.IndexFunc(w.Steps, func(s Step) bool { return s.Name == step })
		if at >= 0 && w.Steps[at].alone(w.of(step)) {
			continue // its step has them
		}
		for _, e := range w.Requests[i].Errors {
			all = append(all, Failure{w.Requests[i].Name, e})
		}
	}
	for i := range w.Beside {
		for _, e := range w.Beside[i].Errors {
			all = append(all, Failure{w.Beside[i].Name, e})
		}
	}
	return all
}

func buildWorkflow(in *message.WorkflowResult) (Workflow, error) {
	w := Workflow{
		Name: in.Name, Outcome: in.State.String(), Error: in.Error, VUs: in.VUs, Cores: in.Cores, DurationNS: int64(verdict.Clock(in)), Turn: Turn{GapNS: int64(in.Stats.Gap), BeganNS: int64(in.Began), Order: in.Order},
		Steps: []Step{}, Named: Named{Requests: []Step{}, Beside: []Step{}}, Series: []Series{}, Checks: []Check{}, Actions: []Check{}, Metrics: []Metric{}, Lost: []Lost{}, Logs: slices.Concat([]string{}, in.Stats.Logs),
		Feed: Feed{Rows: in.Stats.Rows, RowsBurned: in.Burned},
	}
	var err error
	if w.Generator, err = buildGenerators([]message.WorkflowResult{*in}); err != nil {
		return w, err
	}
	for i := range in.Stats.Steps {
		if err := w.addStep(&in.Stats.Steps[i], in.Interval); err != nil {
			return w, fmt.Errorf("step %s: %w", in.Stats.Steps[i].Name, err)
		}
		if in.Stats.CountsRequests(&in.Stats.Steps[i]) {
			w.Requested.Add(totalsOf(&in.Stats.Steps[i]))
		}
	}
	for _, list := range [][]Step{w.Requests, w.Beside} {
		slices.SortStableFunc(list, func(a, b Step) int { return cmp.Compare(a.Name, b.Name) })
	}
	for _, b := range in.Stats.Barriers {
		w.Barriers = append(w.Barriers, Barrier{b.Name, b.Released, b.TimedOut, b.Ended})
	}
	slices.SortFunc(w.Barriers, func(a, b Barrier) int { return cmp.Compare(a.Name, b.Name) })
	for _, c := range in.Stats.Counters {
		w.Counters = append(w.Counters, Counter(c))
	}
	slices.SortFunc(w.Counters, func(a, b Counter) int { return cmp.Compare(a.Name, b.Name) })
	w.Tags = tags(in.Tags)
	for i := range in.StepTags {
		at := slices.IndexFunc(w.Steps, func(s Step) bool { return s.Name == in.StepTags[i].Step })
		if at >= 0 {
			w.Steps[at].Tags = tags(in.StepTags[i].Tags)
		}
	}
	if w.Activity, err = buildActivity(&in.Stats, in.Interval); err != nil {
		return w, err
	}
	if w.Series, err = buildSeries(in, w.Loaded()); err != nil {
		return w, err
	}
	for _, l := range in.Lost {
		w.Lost = append(w.Lost, LostOf(&l))
	}
	return w, nil
}

// Late is by how much a datacenter began a workflow later than another did, at most.
func (r *Result) Late(datacenter string) (most time.Duration) {
	for i := range r.Workflows {
		for _, w := range r.In(datacenter) {
			if w.Name == r.Workflows[i].Name && w.DurationNS > 0 {
				most = max(most, time.Duration(w.BeganNS-r.Workflows[i].BeganNS))
			}
		}
	}
	return most
}

// Loaded is how long load ran, as far as is known: the divisor of rates.
func (w *Workflow) Loaded() time.Duration { return time.Duration(w.DurationNS - w.GapNS) }

func tags(list []message.Tag) map[string]string {
	all := make(map[string]string, len(list))
	for _, t := range list {
		all[t.Name] = t.Value
	}
	return all
}

func (w *Workflow) addStep(s *message.StepStats, interval time.Duration) error {
	switch s.Kind {
	case message.StepRequest, message.StepFunction:
		step, err := buildStep(s, w.Loaded(), interval)
		if err != nil {
			return err
		}
		w.Steps = append(w.Steps, step)
		w.Totals.Add(step.Totals)
	case message.StepPart, message.StepBeside:
		step, err := buildStep(s, w.Loaded(), interval)
		if err != nil {
			return err
		}
		if s.Kind == message.StepBeside {
			w.Beside = append(w.Beside, step)
		} else {
			w.Requests = append(w.Requests, step)
		}
	case message.StepCheck:
		w.Checks = append(w.Checks, buildCheck(s))
	case message.StepAction:
		w.Actions = append(w.Actions, buildCheck(s))
	case message.StepMetric:
		values, err := buildDistribution(s.Metric)
		if err != nil {
			return err
		}
		w.Metrics = append(w.Metrics, Metric{
			Name: s.Name, ValueMilli: values, SumMilli: s.Metric.Sum, RateMilli: perSecond(s.Metric.Sum, 1, time.Duration(w.DurationNS)),
			Failed: s.Failed, Errors: buildErrors(s.Errors),
		})
	default:
		return fmt.Errorf("kind %d is unknown: use the same version of hyperscale at both ends", s.Kind)
	}
	return nil
}

func buildStep(s *message.StepStats, clock, interval time.Duration) (Step, error) {
	step := Step{
		Name: s.Name, Kind: kindName(s.Kind), RateMilli: Rate(s.OK+s.Failed+s.TimedOut, clock),
		Statuses: map[string]uint64{}, Errors: buildErrors(s.Errors), Totals: totalsOf(s),
		PhasesNS: map[string]Distribution{},
	}
	for _, c := range s.Statuses {
		step.Statuses[statusName(c.Status)] = c.Count
	}
	var err error
	if step.LatencyNS, err = buildDistribution(s.Latency); err != nil {
		return step, fmt.Errorf("latency: %w", err)
	}
	if step.ServiceNS, err = buildDistribution(s.Service); err != nil {
		return step, fmt.Errorf("service: %w", err)
	}
	for _, p := range s.Phases {
		name := phaseName(p.Phase)
		if step.PhasesNS[name], err = buildDistribution(p.Time); err != nil {
			return step, fmt.Errorf("phase %s: %w", name, err)
		}
	}
	if step.Measures, err = buildMeasures(s.Measures.List); err != nil {
		return step, err
	}
	step.Course, err = buildCourse(s.Windows, interval)
	return step, err
}

func totalsOf(s *message.StepStats) Totals {
	var challenged uint64
	for _, c := range s.Statuses {
		challenged += c.Challenged
	}
	return Totals{
		Started: s.Started, Sent: s.Sent, OK: s.OK, Failed: s.Failed, TimedOut: s.TimedOut, Cancelled: s.Cancelled,
		Dropped: s.Dropped, Skipped: s.Skipped, Retried: s.Retried, Challenged: challenged, BytesIn: s.BytesIn, BytesOut: s.BytesOut,
	}
}

func statusName(status uint32) string {
	if status == stats.StatusOther {
		return stats.KindOther
	}
	return strconv.FormatUint(uint64(status), 10)
}

func buildCheck(s *message.StepStats) Check {
	return Check{Name: s.Name, Passed: s.OK, Failed: s.Failed + s.TimedOut, Skipped: s.Skipped, Errors: buildErrors(s.Errors)}
}

func buildErrors(in []message.ErrorCount) []Error {
	out := []Error{}
	for _, e := range in {
		out = append(out, Error{Kind: e.Kind, Count: e.Count, Example: e.Example})
	}
	slices.SortFunc(out, func(a, b Error) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Kind, b.Kind)) })
	return out
}

// buildGenerators is the worst of many: their lags merged, the busiest second.
func buildGenerators(in []message.WorkflowResult) (Generator, error) {
	var out Generator
	var usage message.Usage
	lag := new(stats.Histogram)
	for i := range in {
		g := in[i].Stats.Generator
		h, err := stats.FromWire(g.Lag)
		if err != nil {
			return out, fmt.Errorf("workflow %s: generator's lag: %w", in[i].Name, err)
		}
		lag.Merge(h)
		out.SharedCores += in[i].Shared
		out.BusyMaxPPM = max(out.BusyMaxPPM, g.BusyMax)
		out.WaitMaxPPM, out.StealMaxPPM = max(out.WaitMaxPPM, g.WaitMax), max(out.StealMaxPPM, g.StealMax)
		out.Saturated, out.Starved, out.Late = out.Saturated || g.Saturated, out.Starved || g.Starved, out.Late || g.Late
		out.addSilent(&in[i])
		usage, out.Held = stats.AddUsage(usage, g.Usage), out.Held+g.Held
		out.Begun, out.Waited, out.Dropped, out.NotOffered = out.Begun+g.Begun, out.Waited+g.Waited, out.Dropped+g.Dropped, out.NotOffered+g.Missed
	}
	out.LagNS = distributionOf(lag)
	out.CPUNS, out.MemoryBytes, out.MemoryMax = int64(usage.CPU), usage.Memory, usage.MemoryMax
	out.Pressed, out.Throttles, out.ThrottledNS = usage.Pressed, usage.Throttles, int64(usage.Throttled)
	return out, nil
}

// addSilent adds the executors of a workflow that had no answer, unless none of its executors had
// one: then its outcome says so.
func (g *Generator) addSilent(in *message.WorkflowResult) {
	if _, all := stats.Silent(&in.Stats); all {
		return
	}
	g.Silent += in.Stats.SilentSum
	for _, s := range in.Stats.Silent[:min(len(in.Stats.Silent), stats.SilentMax-len(g.Unanswered))] {
		g.Unanswered = append(g.Unanswered, Unanswered{Workflow: in.Name, Worker: s.Worker, Core: s.Core, Requests: s.Requests, Kind: s.Kind, Example: s.Example})
	}
}

func buildDistribution(in message.Histogram) (Distribution, error) {
	h, err := stats.FromWire(in)
	if err != nil {
		return Distribution{}, err
	}
	return distributionOf(h), nil
}

func distributionOf(h *stats.Histogram) Distribution {
	return Distribution{
		Count: h.Count(), Min: h.Min(), Mean: h.Mean(), P50: h.Quantile(500_000), P90: h.Quantile(900_000),
		P95: h.Quantile(950_000), P99: h.Quantile(990_000), P999: h.Quantile(999_000), Max: h.Max(),
	}
}

// Rate is n in d, a second, in thousandths; zero when no time has passed.
func Rate(n uint64, d time.Duration) uint64 { return perSecond(n, 1000, d) }

// perSecond is n times scale in d, a second, rounded down as a threshold's value is.
func perSecond(n, scale uint64, d time.Duration) uint64 {
	if d <= 0 {
		return 0
	}
	high, low := bits.Mul64(n, scale*uint64(time.Second))
	if high >= uint64(d) {
		return math.MaxUint64
	}
	rate, _ := bits.Div64(high, low, uint64(d))
	return rate
}

// Add counts o in as well.
func (t *Totals) Add(o Totals) {
	t.Started += o.Started
	t.Sent += o.Sent
	t.OK += o.OK
	t.Failed += o.Failed
	t.TimedOut += o.TimedOut
	t.Cancelled += o.Cancelled
	t.Dropped += o.Dropped
	t.Skipped += o.Skipped
	t.Retried += o.Retried
	t.Challenged += o.Challenged
	t.BytesIn += o.BytesIn
	t.BytesOut += o.BytesOut
}

func kindName(k message.StepKind) string {
	switch k {
	case message.StepRequest:
		return "request"
	case message.StepPart:
		return "part"
	case message.StepBeside:
		return "beside"
	}
	return "function"
}

func phaseName(p message.Phase) string {
	names := [...]string{"", "blocked", "dns", "connect", "tls", "send", "wait", "receive"}
	if int(p) < len(names) && p != message.PhaseNone {
		return names[p]
	}
	return fmt.Sprintf("phase %d", p) // of a newer executor
}
