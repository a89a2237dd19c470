package model

import (
	"slices"
	"strings"

	"hyperscale/core/message"
	"hyperscale/runtime/outputs"
)

// Type says how values of a metric combine.
type Type uint8

// The types.
const (
	Counter Type = iota // values of windows add up
	Gauge               // the newest value counts
)

// Metric is a row of the catalogue.
type Metric struct {
	Name      string // with dots
	Type      Type
	Unit      string // of UCUM, as OpenTelemetry writes units
	Attribute string // the name of what tells its points apart; empty: one point
	Help      string
}

// Catalogue is every metric whose points are single values, by the order of their points.
func Catalogue() []Metric {
	return []Metric{
		{"hyperscale.requests", Counter, "{request}", "result", "requests that ended: ok, failed, timed_out, cancelled"},
		{"hyperscale.requests.started", Counter, "{request}", "", "requests that started"},
		{"hyperscale.requests.dropped", Counter, "{request}", "", "starts that the test did not reach"},
		{"hyperscale.requests.skipped", Counter, "{request}", "", "steps that iterations left out"},
		{"hyperscale.responses", Counter, "{response}", "status", "answers"},
		{"hyperscale.errors", Counter, "{error}", "error", "failures, by what failed"},
		{"hyperscale.bytes.received", Counter, "By", "", "bytes of answers, heads included"},
		{"hyperscale.bytes.sent", Counter, "By", "", "bytes of requests, heads included"},
		{"hyperscale.users.active", Gauge, "{user}", "", "virtual users at work at the end of the window"},
		{"hyperscale.requests.lost", Counter, "{request}", "", "requests of lost attempts, which no result has"},
		{"hyperscale.threshold.met", Gauge, "1", "threshold", "1 if the threshold was met"},
		{"hyperscale.threshold.value", Gauge, "1", "threshold", "what the threshold measured"},
	}
}

// Duration is the distribution of the latencies of a row.
func Duration(r *outputs.Row) Metric {
	return Metric{Name: nameOf(r, "hyperscale.request.duration"), Unit: "s", Help: "latency, from when a request was due to its last byte"}
}

// Point is one value of a metric.
type Point struct {
	Metric    Metric
	Attribute string // the value of Metric.Attribute
	Value     float64
}

// The places in the catalogue.
const (
	requests = iota
	started
	dropped
	skipped
	responses
	failures
	received
	sent
	active
	lost
	met
	value
)

// Has says that metrics tell something of a row. Runs, checks, events and results are for places with tables:
// the sums of windows are a result's counts. Without datacenters, only rows of the whole job count.
func Has(r *outputs.Row, datacenters bool) bool {
	if r.Datacenter != "" && !datacenters {
		return false
	}
	switch r.Kind {
	case outputs.RowWindow, outputs.RowLost:
		return r.Figures != nil
	case outputs.RowThreshold:
		return r.Threshold != nil
	case outputs.RowNone, outputs.RowRun, outputs.RowResult, outputs.RowCheck, outputs.RowEvent:
	}
	return false
}

// Points are the single values of a row. Counts of zero are among them where the set is closed, so that a rate
// begins at its first window.
func Points(r *outputs.Row) []Point {
	p := points{all: Catalogue()}
	switch r.Kind {
	case outputs.RowWindow:
		p.window(r.Figures)
	case outputs.RowLost:
		p.count(lost, "", r.Figures.Begun)
	case outputs.RowThreshold:
		p.threshold(r.Threshold)
	case outputs.RowNone, outputs.RowRun, outputs.RowResult, outputs.RowCheck, outputs.RowEvent:
	}
	for i := range p.out {
		p.out[i].Metric.Name = nameOf(r, p.out[i].Metric.Name)
	}
	return p.out
}

// nameOf is a metric's name. Those of one datacenter have names of their own, so that no sum over series counts a
// request twice.
func nameOf(r *outputs.Row, name string) string {
	if r.Datacenter == "" {
		return name
	}
	return "hyperscale.datacenter." + strings.TrimPrefix(name, "hyperscale.")
}

type points struct {
	all []Metric
	out []Point
}

func (p *points) add(metric int, attribute string, v float64) {
	p.out = append(p.out, Point{Metric: p.all[metric], Attribute: attribute, Value: v})
}

func (p *points) count(metric int, attribute string, n uint64) { p.add(metric, attribute, float64(n)) }

func (p *points) window(f *outputs.Figures) {
	p.count(requests, "ok", f.OK)
	p.count(requests, "failed", f.Failed)
	p.count(requests, "timed_out", f.TimedOut)
	p.count(requests, "cancelled", f.Cancelled)
	p.count(started, "", f.Begun)
	p.count(dropped, "", f.Dropped)
	p.count(skipped, "", f.Skipped)
	for _, s := range f.Statuses {
		p.count(responses, outputs.StatusName(s.Status), s.Count)
	}
	for _, e := range f.Errors {
		p.count(failures, e.Kind, e.Count)
	}
	p.count(received, "", f.BytesIn)
	p.count(sent, "", f.BytesOut)
	p.count(active, "", f.ActiveUsers)
}

func (p *points) threshold(t *outputs.Threshold) {
	v := 0.0
	if t.Met {
		v = 1
	}
	p.add(met, t.Expression, v)
	if !t.Unmeasured {
		p.add(value, t.Expression, t.Value)
	}
}

// Latency is the distribution of a row, and whether it has one with values.
func Latency(r *outputs.Row) (message.Histogram, bool) {
	if r.Kind != outputs.RowWindow || r.Figures == nil || r.Figures.Latency.Count == 0 {
		return message.Histogram{}, false
	}
	return r.Figures.Latency, true
}

// Label is a name and a value that tell series apart.
type Label struct{ Name, Value string }

// Labels are those of the point's row and the attribute of the metric.
func (p *Point) Labels(row []Label) []Label {
	if p.Metric.Attribute == "" {
		return row
	}
	return With(row, p.Metric.Attribute, p.Attribute)
}

// With are labels of a row and one more. A tag of the user that has its name is left out.
func With(row []Label, name, value string) []Label {
	out := slices.DeleteFunc(slices.Clone(row), func(l Label) bool { return l.Name == name })
	return append(out, Label{name, value})
}

// Labels are those of a row, in an order that is always the same. Kind is request or function for steps, which add up to
// the workflow; part and beside for the requests that functions and hooks send, which functions count once more. Empty values are left out: a row of the
// whole job has no datacenter. Tags of the user that have a name of ours are left out, too.
func Labels(r *outputs.Row) []Label {
	ours := [...]Label{{"run", r.Job}, {"test", r.Test}, {"datacenter", r.Datacenter}, {"workflow", r.Workflow}, {"step", r.Step}, {"kind", outputs.StepKindName(r.StepKind)}}
	var out []Label
	taken := map[string]bool{}
	for _, l := range ours {
		taken[l.Name] = true
		if l.Value != "" {
			out = append(out, l)
		}
	}
	for _, t := range r.Tags {
		if !taken[t.Name] && t.Name != "" && t.Value != "" {
			taken[t.Name] = true
			out = append(out, Label{t.Name, t.Value})
		}
	}
	return out
}
