package report

import (
	"fmt"
	"math/bits"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/stats"
)

// seriesMax is how many series of tags a workflow has, before the one that is named
// stats.KindOther takes the rest.
const seriesMax = 100

func buildCourse(in message.Windows, interval time.Duration) (Course, error) {
	out := Course{Dropped: in.Dropped, Windows: []Window{}}
	width, all, err := stats.Points(in, interval)
	if err != nil {
		return out, fmt.Errorf("windows: %w", err)
	}
	out.WidthNS = int64(width)
	if out.PerOctave, err = stats.Fineness(in); err != nil {
		return out, fmt.Errorf("windows: %w", err)
	}
	for i := range all {
		w := &all[i]
		out.Windows = append(out.Windows, Window{
			SinceNS: int64(w.Since), Started: w.Started, OK: w.OK, Failed: w.Failed, TimedOut: w.TimedOut, Bytes: w.Bytes,
			P50NS: w.Quantile(500_000), P99NS: w.Quantile(990_000),
		})
	}
	return out, nil
}

// Coarser is how often the finest buckets of a window were halved in number for this course. Older
// files do not say: they know octaves.
func (c *Course) Coarser() uint8 {
	return uint8(bits.Len(uint(stats.FineMost/min(max(c.PerOctave, 1), stats.FineMost))) - 1)
}

func buildActivity(in *message.Stats, interval time.Duration) (Activity, error) {
	out := Activity{Dropped: in.Activity.Dropped, Windows: []ActiveWindow{}}
	width, all, err := stats.Points(in.Activity, interval)
	if err != nil {
		return out, fmt.Errorf("users over time: %w", err)
	}
	out.WidthNS = int64(width)
	for i := range all {
		w := &all[i]
		lasted := width
		if left := in.Elapsed - w.Since; left > 0 {
			lasted = min(width, left)
		}
		out.Windows = append(out.Windows, ActiveWindow{SinceNS: int64(w.Since), Active: w.UsersMilli(lasted), Begun: w.Started, Asked: w.Started + w.Failed})
	}
	return out, nil
}

// buildSeries merges the measured steps by their tags, in the order in which those are
// first seen.
func buildSeries(in *message.WorkflowResult, clock time.Duration) ([]Series, error) {
	all := []Series{}
	latencies := []*stats.Histogram{}
	index := map[message.Tag]int{}
	tagged := map[string][]message.Tag{}
	for _, t := range in.StepTags {
		tagged[t.Step] = t.Tags
	}
	for i := range in.Stats.Steps {
		s := &in.Stats.Steps[i]
		if !s.Kind.Measured() {
			continue
		}
		h, err := stats.FromWire(s.Latency)
		if err != nil {
			return nil, fmt.Errorf("step %s: latency: %w", s.Name, err)
		}
		for _, tag := range tagged[s.Name] {
			at, known := index[tag]
			if !known && len(index) >= seriesMax {
				tag = message.Tag{Name: stats.KindOther}
				at, known = index[tag]
			}
			if !known {
				at = len(all)
				index[tag] = at
				all = append(all, Series{Tag: tag.Name, Value: tag.Value})
				latencies = append(latencies, new(stats.Histogram))
			}
			all[at].Totals.Add(totalsOf(s))
			latencies[at].Merge(h)
		}
	}
	for i := range all {
		t := &all[i].Totals
		all[i].RateMilli = Rate(t.OK+t.Failed+t.TimedOut, clock)
		all[i].LatencyNS = distributionOf(latencies[i])
	}
	return all, nil
}
