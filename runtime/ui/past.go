package ui

import (
	"slices"
	"time"

	"hyperscale/core/stats"
	"hyperscale/runtime/report"
)

// bin is what all workflows of a layer did in an interval.
type bin struct {
	stats.Window
	closed, open Course
}

// of is the course of one kind of workflows.
func (b *bin) of(open bool) *Course {
	if open {
		return &b.open
	}
	return &b.closed
}

// past makes points for the time before the first status, for late watchers. Statuses carry
// each step's course over time, with latencies to within a bucket of its windows. Layers follow each other, as on the
// model's clock.
func (m *Model) past() (all []Point) {
	layers := map[uint32][]*flow{}
	for _, f := range m.flows {
		if f.now.Elapsed > 0 {
			layers[f.layer] = append(layers[f.layer], f)
		}
	}
	order := make([]uint32, 0, len(layers))
	for layer := range layers { //lint:orderfree sorted below
		order = append(order, layer)
	}
	slices.Sort(order)
	from, width := time.Duration(0), m.pastWidth()
	for i, layer := range order {
		bins, whole := map[time.Duration]*bin{}, time.Duration(0)
		for _, f := range layers[layer] {
			whole = max(whole, f.now.Elapsed)
			if !f.fill(bins, width) {
				return nil // of widths that do not go together: the run is drawn from now on
			}
		}
		points := pointsOf(bins, from, width, whole)
		if i == len(order)-1 { // the newest sample covers the rest, and better
			told := from + toldBy(layers[layer], whole) - width
			points = slices.DeleteFunc(points, func(p Point) bool { return p.At > told })
		}
		all = append(all, points...)
		from += whole
	}
	return all
}

// pastWidth is the width of intervals that windows of all steps fill.
func (m *Model) pastWidth() time.Duration {
	coarsest := time.Duration(1)
	for _, f := range m.flows {
		for i := range f.now.Steps {
			if f.now.CountsRequests(&f.now.Steps[i]) {
				coarsest = max(coarsest, f.now.Steps[i].Windows.Width)
			}
		}
	}
	return (sampleEvery + coarsest - 1) / coarsest * coarsest
}

// toldBy is how far all workflows of a layer that send load have told of it.
func toldBy(flows []*flow, whole time.Duration) time.Duration {
	for _, f := range flows {
		if !f.state.Terminal() {
			whole = min(whole, f.now.Elapsed)
		}
	}
	return whole
}

// fill adds a workflow's course; false: a step has none of this width.
func (f *flow) fill(bins map[time.Duration]*bin, width time.Duration) bool {
	at := func(since time.Duration) *bin {
		if bins[since] == nil {
			bins[since] = new(bin)
		}
		return bins[since]
	}
	for i := range f.now.Steps {
		if !f.now.CountsRequests(&f.now.Steps[i]) {
			continue
		}
		took, points, err := stats.Points(f.now.Steps[i].Windows, width)
		if err != nil || len(points) > 0 && took != width {
			return false
		}
		for k := range points {
			at(points[k].Since).Add(&points[k].Window)
		}
	}
	courses := f.courses(width)
	for since, c := range courses { //lint:orderfree a sum in each interval
		if b := bins[since]; b != nil {
			b.of(f.open).add(c)
		}
	}
	return true
}

// pointsOf makes points of a layer's intervals. The last one is as long as the rest.
func pointsOf(bins map[time.Duration]*bin, from, width, until time.Duration) (all []Point) {
	sinces := make([]time.Duration, 0, len(bins))
	for since := range bins { //lint:orderfree sorted below
		sinces = append(sinces, since)
	}
	slices.Sort(sinces)
	for _, since := range sinces {
		took, b := min(width, until-since), bins[since]
		if took <= 0 {
			break
		}
		bad := b.Failed + b.TimedOut
		all = append(all, Point{
			At: from + since + took, Took: took, RateMilli: report.Rate(b.OK+bad, took), FailMilli: report.Rate(bad, took),
			P50: b.Quantile(500_000), P95: b.Quantile(950_000), P99: b.Quantile(990_000), Closed: b.closed, Open: b.open,
		})
	}
	return all
}

// courses are what users and iterations did before the first status, by when each interval began.
func (f *flow) courses(width time.Duration) map[time.Duration]Course {
	took, points, err := stats.Points(f.now.Activity, width)
	if err != nil || took != width {
		return nil
	}
	all := map[time.Duration]Course{}
	for i := range points {
		c := Course{Users: (points[i].UsersMilli(width) + 500) / 1000, BegunMilli: report.Rate(points[i].Started, width)}
		if f.open {
			c.AskedMilli = report.Rate(points[i].Started+points[i].Failed, width)
		}
		all[points[i].Since] = c
	}
	return all
}
