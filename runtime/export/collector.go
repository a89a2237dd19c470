package export

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/proto"

	"hyperscale/runtime/report"
)

type label struct{ name, value string }

type labels []label

// collector gathers metrics into their families.
type collector struct {
	base     labels
	families map[string]*dto.MetricFamily
	taken    map[string]bool // series there are
}

// add begins a metric. A series may be there once: a threshold that is written twice,
// or a name that reads like another once it is clean, gets a number.
func (c *collector) add(f family, of []label) *dto.Metric {
	name := prefix + f.name
	all := c.families[name]
	if all == nil {
		all = f.empty()
		c.families[name] = all
	}
	m := &dto.Metric{}
	for _, l := range c.once(f.name, of) {
		m.Label = append(m.Label, &dto.LabelPair{Name: proto.String(l.name), Value: proto.String(l.value)})
	}
	slices.SortFunc(m.Label, func(a, b *dto.LabelPair) int { return cmp.Compare(a.GetName(), b.GetName()) })
	all.Metric = append(all.Metric, m)
	return m
}

// once cleans the labels and makes them a series of their own. The second label is the
// name of a step, check, metric or threshold.
func (c *collector) once(family string, of []label) labels {
	all := labels{}
	for _, l := range slices.Concat(c.base, of) {
		all = append(all, label{l.name, clean(l.value)})
	}
	for n, name := 2, ""; ; n++ {
		key := fmt.Sprintf("%s %q", family, all)
		if !c.taken[key] {
			c.taken[key] = true
			return all
		}
		at := min(len(c.base)+1, len(all)-1)
		if n == 2 {
			name = all[at].value
		}
		all[at].value = fmt.Sprintf("%s (%d)", name, n)
	}
}

func (c *collector) value(f family, v float64, of ...label) {
	m := c.add(f, of)
	if f.kind == dto.MetricType_COUNTER {
		m.Counter = &dto.Counter{Value: proto.Float64(v)}
		return
	}
	m.Gauge = &dto.Gauge{Value: proto.Float64(v)}
}

// distribution is a summary: quantiles since the beginning, all merged. Its sum comes
// of the mean, which is rounded down to a whole unit.
func (c *collector) distribution(f family, d *report.Distribution, unit float64, of ...label) {
	s := &dto.Summary{SampleCount: proto.Uint64(d.Count), SampleSum: proto.Float64(float64(d.Mean) * float64(d.Count) / unit)}
	for _, q := range quantiles(d) {
		v := float64(q.v) / unit
		if d.Count == 0 {
			v = math.NaN() // of nothing there is no quantile
		}
		s.Quantile = append(s.Quantile, &dto.Quantile{Quantile: proto.Float64(q.of), Value: proto.Float64(v)})
	}
	c.add(f, of).Summary = s
}

// histogram counts the step's latencies in wide buckets. The fine bucket that a bound
// falls into goes to the next wide one: a value at most 0.4 % below a bound may count
// above it. Of a step without its buckets there is no histogram.
func (c *collector) histogram(f family, s *report.Step, of ...label) {
	fine, err := s.Buckets.Histogram()
	if err != nil || fine.Count() != s.LatencyNS.Count {
		return
	}
	limits := bounds()
	counts := make([]uint64, len(limits))
	fine.Each(func(largest, n uint64) {
		if at, _ := slices.BinarySearch(limits, largest); at < len(limits) {
			counts[at] += n
		}
	})
	h := &dto.Histogram{SampleCount: proto.Uint64(s.LatencyNS.Count), SampleSum: proto.Float64(float64(s.LatencyNS.Mean) * float64(s.LatencyNS.Count) / nano)}
	sum := uint64(0)
	for i, limit := range limits {
		sum += counts[i]
		h.Bucket = append(h.Bucket, &dto.Bucket{UpperBound: proto.Float64(float64(limit) / nano), CumulativeCount: proto.Uint64(sum)})
	}
	c.add(f, of).Histogram = h
}
