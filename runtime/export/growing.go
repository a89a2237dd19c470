package export

import (
	"maps"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/proto"

	"hyperscale/core/message"
)

// growing keeps the counters and histograms of one job from falling. A report says less than the one
// before it in two cases. The figures of a lost attempt count no more: then what they counted stays in
// the counters, and lost requests say how much that is. Or a new manager has not heard of all workers
// yet: then the counters wait until its figures are larger.
type growing struct {
	series map[string]*grown
	lost   map[part]uint64 // requests of attempts whose figures count nowhere, as last reported
	fresh  map[part]uint64 // how many more there are since the last scrape
}

// part is a workflow in a datacenter.
type part struct{ datacenter, workflow string }

// grown is one series of a counter, or those of a histogram.
type grown struct {
	family  *dto.MetricFamily // without metrics
	labels  []*dto.LabelPair
	bounds  []*dto.Bucket // of a histogram
	shown   []float64
	kept    []float64 // of shown, what counts no more
	settled []float64 // of shown, what no result counts; nil before the end
	now     []float64 // nil: the newest report does not have it
}

func (g *growing) begin() {
	g.fresh = map[part]uint64{}
	for _, s := range g.series {
		s.now = nil
	}
}

// lose reads which attempts of a datacenter count no more.
func (g *growing) lose(d *message.DatacenterResult) {
	for i := range d.Workflows {
		w, sum := &d.Workflows[i], uint64(0)
		for k := range w.Lost {
			if !w.Lost[k].Counted {
				sum += w.Lost[k].Started
			}
		}
		p := part{clean(d.Name), clean(w.Name)}
		more := max(g.lost[p], sum) - g.lost[p]
		g.lost[p] += more
		g.fresh[p] += more
		g.fresh[part{p.datacenter, other}] += more
	}
}

// take takes the metrics that may not fall out of families, and returns the rest.
func (g *growing) take(families map[string]*dto.MetricFamily) (rest []*dto.MetricFamily) {
	for _, f := range sorted(families) {
		if f.GetType() != dto.MetricType_COUNTER && f.GetType() != dto.MetricType_HISTOGRAM {
			rest = append(rest, f)
			continue
		}
		bare := &dto.MetricFamily{Name: f.Name, Help: f.Help, Type: f.Type}
		for _, m := range f.Metric {
			key := keyOf(f, m)
			s := g.series[key]
			if s == nil {
				s = &grown{family: bare, labels: m.Label, bounds: m.GetHistogram().GetBucket()}
				g.series[key] = s
			}
			s.now = numbers(m)
			for len(s.shown) < len(s.now) {
				s.shown, s.kept = append(s.shown, 0), append(s.kept, 0)
			}
		}
	}
	gone := g.gone()
	for _, s := range g.series {
		if s.now != nil {
			s.grow(gone[s.part()])
		}
	}
	return rest
}

// gone returns the workflows in which figures of lost attempts have gone for good: requests are missing,
// and no more than those of the attempts that count no more since the last scrape.
func (g *growing) gone() map[part]bool {
	missing := map[part]float64{}
	for _, s := range g.series {
		if s.starts() && s.now != nil {
			missing[s.part()] += max(0, s.shown[0]-s.kept[0]-s.now[0])
		}
	}
	gone := map[part]bool{}
	for p, n := range missing {
		gone[p] = n > 0 && n <= float64(g.fresh[p])
	}
	return gone
}

func (s *grown) grow(gone bool) {
	for i, n := range s.now {
		if gone {
			s.kept[i] = max(s.kept[i], s.shown[i]-n)
		}
		s.shown[i] = max(s.shown[i], n+s.kept[i])
	}
}

// settle compares the counters with the result, in the datacenters of which it knows the figures.
func (g *growing) settle(known func(datacenter string) bool) {
	for _, s := range g.series {
		if !s.starts() || !known(s.part().datacenter) {
			continue
		}
		s.settled = slices.Clone(s.shown)
		if s.now != nil {
			s.settled[0] -= s.now[0]
		}
	}
}

// write adds the series to families, and which requests no result counts.
func (g *growing) write(to map[string]*dto.MetricFamily) {
	lost := lostRequests.empty()
	for _, key := range slices.Sorted(maps.Keys(g.series)) {
		s := g.series[key]
		join(to, s.family, s.metric())
		if !s.starts() {
			continue
		}
		n := s.kept[0]
		if s.settled != nil {
			n = s.settled[0]
		}
		join(to, lost, &dto.Metric{Label: s.labels, Counter: &dto.Counter{Value: proto.Float64(n)}})
	}
}

// starts says whether the series counts requests that began.
func (s *grown) starts() bool { return s.family.GetName() == prefix+started.name }

func (s *grown) part() (p part) {
	for _, l := range s.labels {
		switch l.GetName() {
		case "datacenter":
			p.datacenter = l.GetValue()
		case "workflow":
			p.workflow = l.GetValue()
		}
	}
	return p
}

// metric is what is shown: a new one each time, since a scraper may still read the last one.
func (s *grown) metric() *dto.Metric {
	m := &dto.Metric{Label: s.labels}
	if s.family.GetType() == dto.MetricType_COUNTER {
		m.Counter = &dto.Counter{Value: proto.Float64(s.shown[0])}
		return m
	}
	n := len(s.bounds)
	m.Histogram = &dto.Histogram{SampleCount: proto.Uint64(uint64(s.shown[n])), SampleSum: proto.Float64(s.shown[n+1])}
	for i, b := range s.bounds {
		m.Histogram.Bucket = append(m.Histogram.Bucket, &dto.Bucket{UpperBound: b.UpperBound, CumulativeCount: proto.Uint64(uint64(s.shown[i]))})
	}
	return m
}

// numbers are the values of a counter or a histogram.
func numbers(m *dto.Metric) (all []float64) {
	if m.Counter != nil {
		return []float64{m.Counter.GetValue()}
	}
	for _, b := range m.Histogram.Bucket {
		all = append(all, float64(b.GetCumulativeCount()))
	}
	return append(all, float64(m.Histogram.GetSampleCount()), m.Histogram.GetSampleSum())
}

func keyOf(f *dto.MetricFamily, m *dto.Metric) string {
	var b strings.Builder
	b.WriteString(f.GetName())
	for _, l := range m.Label {
		b.WriteByte(0)
		b.WriteString(l.GetName())
		b.WriteByte(0)
		b.WriteString(l.GetValue())
	}
	return b.String()
}
