package ui

import (
	"slices"
	"time"

	"hyperscale/core/stats"
	"hyperscale/runtime/report"
)

// past makes points for the time before the first status, for late watchers. Statuses carry
// each step's course over time, with latencies to within a bucket of its windows.
func (f *flow) past() []Point {
	windows, coarsest := map[time.Duration]*stats.Window{}, time.Duration(1)
	for i := range f.now.Steps {
		if f.now.CountsRequests(&f.now.Steps[i]) {
			coarsest = max(coarsest, f.now.Steps[i].Windows.Width)
		}
	}
	width := (sampleEvery + coarsest - 1) / coarsest * coarsest
	for i := range f.now.Steps {
		if !f.now.CountsRequests(&f.now.Steps[i]) {
			continue
		}
		took, points, err := stats.Points(f.now.Steps[i].Windows, width)
		if err != nil || len(points) > 0 && took != width {
			return nil // of widths that do not go together: the run is drawn from now on
		}
		for k := range points {
			w := windows[points[k].Since]
			if w == nil {
				w = new(stats.Window)
				windows[points[k].Since] = w
			}
			w.Add(&points[k].Window)
		}
	}
	courses := f.courses(width)
	var all []Point
	//lint:orderfree sorted below, each has a time of its own
	for since, w := range windows {
		if since+2*width > f.now.Elapsed {
			continue // the newest sample covers it, and better
		}
		bad := w.Failed + w.TimedOut
		p := Point{
			At: since + width, Took: width, RateMilli: report.Rate(w.OK+bad, width), FailMilli: report.Rate(bad, width),
			P50: w.Quantile(500_000), P95: w.Quantile(950_000), P99: w.Quantile(990_000),
		}
		*p.of(f.open) = courses[since]
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b Point) int { return int((a.At - b.At) / time.Millisecond) })
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
