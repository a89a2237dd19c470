package export

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/proto"

	"hyperscale/core/message"
	"hyperscale/runtime/report"
)

// family is one metric: its name, and its help text, of which docs/outputs.md has more.
type family struct {
	name string
	help string
	kind dto.MetricType
}

// empty is the family without a metric.
func (f family) empty() *dto.MetricFamily {
	return &dto.MetricFamily{Name: proto.String(prefix + f.name), Help: proto.String(f.help), Type: f.kind.Enum()}
}

func counter(name, help string) family { return family{name, help, dto.MetricType_COUNTER} }
func gauge(name, help string) family   { return family{name, help, dto.MetricType_GAUGE} }
func summary(name, help string) family { return family{name, help, dto.MetricType_SUMMARY} }

// The metrics. All begin with hyperscale_ and carry the labels run and test.
var (
	jobState          = gauge("job_state", "1 for the state that the job is in.")
	jobDuration       = gauge("job_duration_seconds", "Time since the job was accepted, until its end.")
	jobStart          = gauge("job_start_timestamp_seconds", "When the job was accepted, in seconds since 1970.")
	requests          = counter("requests_total", "Requests that ended, by step and result: ok, failed, timed_out, cancelled.")
	started           = counter("requests_started_total", "Requests begun, by step.")
	sent              = counter("requests_sent_total", "Requests that left whole, by step.")
	dropped           = counter("requests_dropped_total", "Requests that never started as no virtual user was free, by step.")
	skipped           = counter("requests_skipped_total", "Requests that never started as a step before them failed, by step.")
	received          = counter("received_bytes_total", "Bytes received, heads included, by step.")
	sentBytes         = counter("sent_bytes_total", "Bytes sent, heads included, by step.")
	responses         = counter("responses_total", "Answers by step and status.")
	errorsBy          = counter("errors_total", "Failures by step and kind.")
	latency           = summary("request_latency_seconds", "Time from the intended start to the last byte, by step, since the run began.")
	service           = summary("request_service_seconds", "Time from the first byte written to the last byte, by step, since the run began.")
	phases            = summary("request_phase_seconds", "Time in each phase of a request, by step, since the run began.")
	measured          = counter("measure_total", "Occurrences of what a step's protocol counts, such as events, by step and measure.")
	measureAmounts    = summary("measure_amount", "Amounts of what a step's protocol measures, such as the lag of consumers in records, by step and measure, since the run began.")
	measureTimes      = summary("measure_seconds", "Times of what a step's protocol measures beside the latency, by step and measure, since the run began.")
	duration          = family{"request_duration_seconds", "Time from the intended start to the last byte, by step, in buckets.", dto.MetricType_HISTOGRAM}
	checks            = counter("checks_total", "Checks by name and result: passed, failed, skipped.")
	values            = summary("metric_value", "Numbers that the workflow file records, by metric.")
	vus               = gauge("vus", "Virtual users of a workflow.")
	active            = gauge("active_vus", "Virtual users of a workflow that are at work now.")
	cores             = gauge("generator_cores", "Cores that run a workflow.")
	busy              = gauge("generator_busy_ratio", "Busiest second of an executor: 1 is all of its core.")
	saturated         = gauge("generator_saturated", "1 if the generator was the bottleneck: latencies include its own delays.")
	memory            = gauge("generator_memory_bytes", "Most memory of the executor that came nearest to its budget.")
	memoryMax         = gauge("generator_memory_max_bytes", "The budget of memory of that executor.")
	throttled         = gauge("generator_throttled_seconds", "For how long an executor near its budget of memory began no new virtual user.")
	lag               = summary("generator_lag_seconds", "How late starts were.")
	begun             = counter("passes_begun_total", "Passes through a workflow that began.")
	waited            = counter("passes_waited_total", "Passes that began late as no virtual user was free.")
	droppedIterations = counter("passes_dropped_total", "Passes that were due and never began as no virtual user was free.")
	thresholdMet      = gauge("threshold_met", "1 if the threshold was met, 0 if not; known at the end.")
	thresholdValue    = gauge("threshold_value", "What the threshold was judged by: seconds, a ratio, or a number a second.")
	missing           = gauge("datacenter_missing", "1 if best effort left the datacenter out: what it sent is in no count.")
	lostRequests      = counter("lost_requests_total", "Requests in these counters that are in no result: an attempt was lost, and no majority of managers could keep its counts.")
	leftOut           = gauge("load_left_out_jobs", "Running jobs whose load is not shown, as more than 64 run at this gate.")
	inDatacenter      = counter("datacenter_requests_total", "Requests that ended, by datacenter, step and result.")
)

// prefix is that of all names.
const prefix = "hyperscale_"

// Snapshot is a job at one moment: at its end, or as far as its last status.
type Snapshot struct {
	Result *report.Result
	Active map[string]uint64 // virtual users at work, by workflow; nil at the end
}

// Families are all metrics of a snapshot in a fixed order: families by name, the
// metrics of each in the result's order, with their labels by name.
func Families(s *Snapshot) []*dto.MetricFamily {
	r := s.Result
	c := &collector{base: labels{{"run", r.Job}, {"test", r.Name}}, families: map[string]*dto.MetricFamily{}, taken: map[string]bool{}}
	for state := message.JobNone + 1; state <= message.JobTimedOut; state++ {
		c.value(jobState, truth(state.String() == r.Outcome), label{"state", state.String()})
	}
	c.value(jobDuration, time.Duration(r.DurationNS).Seconds())
	if at, err := time.Parse(time.RFC3339Nano, r.StartedAt); err == nil {
		c.value(jobStart, float64(at.UnixMilli())/1000)
	}
	for i := range r.Workflows {
		c.workflow(&r.Workflows[i], s.Active)
	}
	for _, t := range r.Thresholds {
		of := labels{{"workflow", t.Workflow}, {"threshold", t.Expr}}
		c.value(thresholdMet, truth(t.OK), of...)
		c.value(thresholdValue, thresholdBase(t), of...)
	}
	for _, name := range r.Missing {
		c.value(missing, 1, label{"datacenter", name})
	}
	for _, name := range slices.Sorted(maps.Keys(r.Datacenters)) {
		c.datacenter(name, r.In(name))
	}
	return sorted(c.families)
}

func (c *collector) workflow(w *report.Workflow, now map[string]uint64) {
	of := label{"workflow", w.Name}
	c.generator(of, w, now[w.Name])
	for i := range w.Steps {
		c.step(labels{of, {"step", w.Steps[i].Name}}, &w.Steps[i])
	}
	for _, s := range slices.Concat(w.Requests, w.Beside) {
		c.step(requestOf(of, s.Name), &s)
	}
	for i := range w.Checks {
		k := &w.Checks[i]
		for _, n := range []count{{"passed", k.Passed}, {"failed", k.Failed}, {"skipped", k.Skipped}} {
			c.value(checks, float64(n.n), of, label{"check", k.Name}, label{"result", n.name})
		}
	}
	for i := range w.Metrics {
		c.distribution(values, &w.Metrics[i].ValueMilli, milli, of, label{"metric", w.Metrics[i].Name})
	}
}

// requestOf are the labels of requests that a function sent under a name.
func requestOf(workflow label, name string) labels {
	step, request, _ := strings.Cut(name, "/")
	return labels{workflow, {"step", step}, {"request", request}}
}

// generator writes the figures of a workflow that are of no step.
func (c *collector) generator(of label, w *report.Workflow, now uint64) {
	c.value(vus, float64(w.VUs), of)
	c.value(active, float64(now), of)
	c.value(cores, float64(w.Cores), of)
	c.value(busy, float64(w.Generator.BusyMaxPPM)/million, of)
	c.value(saturated, truth(w.Generator.Saturated), of)
	c.value(memory, float64(w.Generator.MemoryBytes), of)
	c.value(memoryMax, float64(w.Generator.MemoryMax), of)
	c.value(throttled, time.Duration(w.Generator.ThrottledNS).Seconds(), of)
	c.distribution(lag, &w.Generator.LagNS, nano, of)
	c.value(begun, float64(w.Generator.Begun), of)
	c.value(waited, float64(w.Generator.Waited), of)
	c.value(droppedIterations, float64(w.Generator.Dropped), of)
}

// counts writes what of a step adds up. The requests that a function sent under a name have the label
// request, so that a sum without it counts none twice.
func (c *collector) counts(of labels, s *report.Step) {
	with := func(name, value string) labels { return append(of[:len(of):len(of)], label{name, value}) }
	for _, n := range ends(&s.Totals) {
		c.value(requests, float64(n.n), with("result", n.name)...)
	}
	c.value(started, float64(s.Started), of...)
	c.value(sent, float64(s.Sent), of...)
	c.value(dropped, float64(s.Dropped), of...)
	c.value(skipped, float64(s.Skipped), of...)
	c.value(received, float64(s.BytesIn), of...)
	c.value(sentBytes, float64(s.BytesOut), of...)
	for _, status := range slices.Sorted(maps.Keys(s.Statuses)) {
		c.value(responses, float64(s.Statuses[status]), with("status", status)...)
	}
	for _, e := range s.Errors {
		c.value(errorsBy, float64(e.Count), with("kind", e.Kind)...)
	}
	c.histogram(duration, s, of...)
}

// step writes a step, or the requests that a function sent under a name.
func (c *collector) step(of labels, s *report.Step) {
	with := func(name, value string) labels { return append(of[:len(of):len(of)], label{name, value}) }
	c.counts(of, s)
	c.distribution(latency, &s.LatencyNS, nano, of...)
	c.distribution(service, &s.ServiceNS, nano, of...)
	for _, phase := range slices.Sorted(maps.Keys(s.PhasesNS)) {
		d := s.PhasesNS[phase]
		c.distribution(phases, &d, nano, with("phase", phase)...)
	}
	for _, name := range s.MeasureNames() {
		switch m := s.Measures[name]; {
		case m.TimesNS != nil:
			c.distribution(measureTimes, m.TimesNS, nano, with("measure", name)...)
		case m.AmountMilli != nil:
			c.distribution(measureAmounts, m.AmountMilli, milli, with("measure", name)...)
		default:
			c.value(measured, float64(m.Count), with("measure", name)...)
		}
	}
}

func (c *collector) datacenter(name string, workflows []report.Workflow) {
	for i := range workflows {
		for k := range workflows[i].Steps {
			s := &workflows[i].Steps[k]
			for _, n := range ends(&s.Totals) {
				c.value(inDatacenter, float64(n.n), label{"datacenter", name}, label{"workflow", workflows[i].Name}, label{"step", s.Name}, label{"result", n.name})
			}
		}
	}
}

// ends are the results that a request can have; they add up to those begun at the end.
func ends(t *report.Totals) []count {
	return []count{{"ok", t.OK}, {"failed", t.Failed}, {"timed_out", t.TimedOut}, {"cancelled", t.Cancelled}}
}

// thresholdBase is a threshold's value in base units.
func thresholdBase(t report.Threshold) float64 { return BaseValue(t.Of, float64(t.Value)) }

// baseUnit is how many of the result file's units make a base unit of a figure.
func baseUnit(of string) float64 {
	switch of {
	case "latency", "service", "phase", "measure":
		return nano
	case "errors", "checks":
		return million
	}
	return milli
}

// Units of the result file in base units.
const (
	nano    = 1e9
	million = 1e6
	milli   = 1e3
)

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// bounds are the histogram's buckets: three an order of magnitude, as they are read.
func bounds() (ns []uint64) {
	for _, decade := range []time.Duration{100 * time.Microsecond, time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond, time.Second, 10 * time.Second} {
		ns = append(ns, uint64(decade), uint64(decade*5/2), uint64(decade*5))
	}
	return append(ns, uint64(100*time.Second))
}

// quantiles are those of a summary, with the figure's name.
func quantiles(d *report.Distribution) []quantile {
	return []quantile{{0.5, d.P50}, {0.9, d.P90}, {0.95, d.P95}, {0.99, d.P99}, {0.999, d.P999}, {1, d.Max}}
}

type quantile struct {
	of float64
	v  uint64
}

// float writes a bound or a quantile as both forms do.
func float(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
