package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"hyperscale/core/node"
	"hyperscale/runtime/loop"
	"hyperscale/runtime/outputs/carrier"
	"hyperscale/runtime/store"
	"hyperscale/runtime/transport"
)

// Sources are the parts of a node that count for themselves.
type Sources struct {
	Self      node.Peer
	Place     string // the datacenter of a manager or a worker; empty: it stands in none
	Loop      func() loop.Stats
	Transport func() transport.Stats
	Store     func() store.Stats
	Load      prometheus.Gatherer    // of the jobs of a gate; nil: none
	Outputs   func() []carrier.Stats // of its sinks; nil: none
}

// Metrics is one node's registry.
type Metrics struct {
	registry *prometheus.Registry
	load     prometheus.Gatherer
	events   events
}

// New registers the whole table.
func New(s Sources) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), load: s.Load, events: newEvents()}
	m.registry.MustRegister(
		newCollector(s, m.events.gates.lost),
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	m.events.register(m.registry)
	if s.Outputs != nil {
		for _, o := range s.Outputs() { // the first increase of a series that is not there is none to Prometheus
			m.events.gates.lacks.add(o.Sink, 0, 0, 0)
		}
	}
	return m
}

// Registry is where a subjob that this package does not know registers its own.
func (m *Metrics) Registry() *prometheus.Registry { return m.registry }

// all gathers what the node and its jobs do.
func (m *Metrics) all() prometheus.Gatherer {
	if m.load == nil {
		return m.registry
	}
	return prometheus.Gatherers{m.registry, m.load}
}

// Observe counts an event.
func (m *Metrics) Observe(e node.Event) { m.events.observe(e) }

// collector reads the subjobs at each scrape.
type collector struct {
	sources Sources
	lost    *lost
	rows    []row
	descs   []*prometheus.Desc
	steps   *prometheus.Desc
	node    *prometheus.Desc
}

func newCollector(s Sources, l *lost) *collector {
	c := &collector{
		sources: s, lost: l, rows: table(),
		steps: prometheus.NewDesc("hyperscale_loop_step_duration_seconds", "How long the machine took for one input.", nil, nil),
		node: prometheus.NewDesc("hyperscale_node_info", "The node of this process: always 1.", nil,
			prometheus.Labels{"node": string(s.Self.ID), "role": s.Self.Role.String(), "datacenter": s.Place}),
	}
	for _, r := range c.rows {
		c.descs = append(c.descs, prometheus.NewDesc(r.name, r.help, r.labels, nil))
	}
	return c
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		out <- d
	}
	out <- c.steps
	out <- c.node
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	s := &snapshot{loop: c.sources.Loop(), transport: c.sources.Transport(), store: c.sources.Store(), lost: c.lost.of}
	if c.sources.Outputs != nil {
		s.outputs = c.sources.Outputs()
	}
	for i := range c.rows {
		kind := c.rows[i].kind()
		c.rows[i].read(s, func(value float64, labels ...string) {
			out <- prometheus.MustNewConstMetric(c.descs[i], kind, value, labels...)
		})
	}
	out <- c.histogram(&s.loop)
	out <- prometheus.MustNewConstMetric(c.node, prometheus.GaugeValue, 1)
}

// histogram turns the loop's buckets into cumulative ones.
func (c *collector) histogram(s *loop.Stats) prometheus.Metric {
	buckets := map[float64]uint64{}
	bounds := loop.StepBounds()
	count := uint64(0)
	for i, n := range s.Steps {
		count += n
		if i < len(bounds) {
			buckets[bounds[i].Seconds()] = count
		}
	}
	return prometheus.MustNewConstHistogram(c.steps, count, s.StepTime.Seconds(), buckets)
}
