package report

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/core/verdict"
)

// Build makes the file's contents of a job's result. It fails on histograms that
// no executor could have written.
func Build(r *message.Result, startedAt time.Time) (*Result, error) {
	out := &Result{
		Schema: Schema, Job: r.Job.String(), Name: r.Name, Outcome: r.State.String(), Error: r.Error,
		StartedAt: startedAt.Format(time.RFC3339Nano), DurationNS: int64(r.Duration),
		Datacenters: map[string]Datacenter{}, Thresholds: []Threshold{},
	}
	var err error
	if out.Workflows, out.Totals, err = buildWorkflows(r.Workflows); err != nil {
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
		if part.Workflows, part.Totals, err = buildWorkflows(d.Workflows); err != nil {
			return nil, fmt.Errorf("datacenter %s: %w", d.Name, err)
		}
		part.Workers = buildWorkers(d.Workers)
		out.Datacenters[d.Name] = part
	}
	for _, t := range r.Thresholds {
		out.Thresholds = append(out.Thresholds, Threshold{Workflow: t.Workflow, Expr: t.Expr, Of: OfName(t.Of), Value: t.Value, OK: t.OK, FromNS: int64(t.From), UntilNS: int64(t.Until), Unmeasured: t.Unmeasured})
	}
	return out, nil
}

func buildWorkflows(in []message.WorkflowResult) (out []Workflow, total Totals, err error) {
	out = []Workflow{}
	for i := range in {
		w, err := buildWorkflow(&in[i])
		if err != nil {
			return nil, total, fmt.Errorf("workflow %s: %w", in[i].Name, err)
		}
		out = append(out, w)
		total.Add(w.Totals)
	}
	return out, total, nil
}

// addBuckets keeps the histograms of the whole job's steps: curves and comparisons
// need all of them. Those of each datacenter would make the file so many times as large.
func addBuckets(out []Workflow, in []message.WorkflowResult) error {
	for i := range in {
		for k := range in[i].Stats.Steps {
			s := &in[i].Stats.Steps[k]
			at := slices.IndexFunc(out[i].Steps, func(o Step) bool { return o.Name == s.Name })
			if at < 0 {
				continue
			}
			h, err := stats.FromWire(s.Latency)
			if err != nil {
				return err
			}
			out[i].Steps[at].Buckets = bucketsOf(h)
			_, points, err := stats.Points(s.Windows, in[i].Interval)
			if err != nil {
				return err
			}
			for w := range points {
				out[i].Steps[at].Course.Windows[w].Buckets = bucketsOfWindow(&points[w].Window)
			}
		}
	}
	return nil
}

func buildWorkflow(in *message.WorkflowResult) (Workflow, error) {
	w := Workflow{
		Name: in.Name, Outcome: in.State.String(), Error: in.Error, VUs: in.VUs, Cores: in.Cores, DurationNS: int64(verdict.Clock(in)),
		Steps: []Step{}, Series: []Series{}, Checks: []Check{}, Actions: []Check{}, Metrics: []Metric{}, Lost: []Lost{}, Logs: slices.Concat([]string{}, in.Stats.Logs),
		Rows: in.Stats.Rows, RowsBurned: in.Burned,
	}
	var err error
	if w.Generator, err = buildGenerators([]message.WorkflowResult{*in}); err != nil {
		return w, err
	}
	for i := range in.Stats.Steps {
		if err := w.addStep(&in.Stats.Steps[i], in.Interval); err != nil {
			return w, fmt.Errorf("step %s: %w", in.Stats.Steps[i].Name, err)
		}
	}
	w.Tags = tags(in.Tags)
	for i := range in.StepTags {
		at := slices.IndexFunc(w.Steps, func(s Step) bool { return s.Name == in.StepTags[i].Step })
		if at >= 0 {
			w.Steps[at].Tags = tags(in.StepTags[i].Tags)
		}
	}
	if w.Series, err = buildSeries(in, time.Duration(w.DurationNS)); err != nil {
		return w, err
	}
	for _, l := range in.Lost {
		w.Lost = append(w.Lost, Lost{Shard: l.Shard.Ordinal, Attempt: l.Attempt, Worker: l.Worker, Reason: l.Reason, Started: l.Started, OK: l.OK})
	}
	return w, nil
}

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
		step, err := buildStep(s, time.Duration(w.DurationNS), interval)
		if err != nil {
			return err
		}
		w.Steps = append(w.Steps, step)
		w.Totals.Add(step.Totals)
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
	step.Course, err = buildCourse(s.Windows, interval)
	return step, err
}

func totalsOf(s *message.StepStats) Totals {
	return Totals{
		Started: s.Started, Sent: s.Sent, OK: s.OK, Failed: s.Failed, TimedOut: s.TimedOut, Cancelled: s.Cancelled,
		Dropped: s.Dropped, Skipped: s.Skipped, BytesIn: s.BytesIn, BytesOut: s.BytesOut,
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
	lag := new(stats.Histogram)
	for i := range in {
		g := in[i].Stats.Generator
		h, err := stats.FromWire(g.Lag)
		if err != nil {
			return out, fmt.Errorf("workflow %s: generator's lag: %w", in[i].Name, err)
		}
		lag.Merge(h)
		out.BusyMaxPPM = max(out.BusyMaxPPM, g.BusyMax)
		out.Saturated = out.Saturated || g.Saturated
		out.Begun, out.Waited, out.Dropped = out.Begun+g.Begun, out.Waited+g.Waited, out.Dropped+g.Dropped
	}
	out.LagNS = distributionOf(lag)
	return out, nil
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
	t.BytesIn += o.BytesIn
	t.BytesOut += o.BytesOut
}

func kindName(k message.StepKind) string {
	if k == message.StepRequest {
		return "request"
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

// OfName is a result file's name for the figure that a threshold reads.
func OfName(of message.ThresholdOf) string {
	names := [...]string{"", "latency", "service", "errors", "checks", "rate", "metric"}
	if int(of) < len(names) {
		return names[of]
	}
	return ""
}
