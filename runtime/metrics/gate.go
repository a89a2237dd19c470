package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"hyperscale/core/event"
	"hyperscale/core/node"
)

// gates are the metrics that gates alone move.
type gates struct {
	letters     prometheus.Gauge
	letterBytes prometheus.Gauge
	paced       prometheus.Gauge
	circuit     prometheus.Gauge
	level       prometheus.Gauge
	waited      prometheus.Histogram
	began       prometheus.Histogram
	wanted      *prometheus.GaugeVec
	lacks       lacks
	lost        *lost
}

// lacks are what sinks do not get of jobs whose delivery was given up: a configuration has a few sinks, so labels are bounded.
type lacks struct{ jobs, rows, requests *prometheus.CounterVec }

func newLacks() lacks {
	vector := func(name, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{"sink"})
	}
	return lacks{
		jobs:     vector("hyperscale_output_given_up_jobs_total", "Jobs of which the gates gave a sink up, counted at the end of the job by the gate that owns it."),
		rows:     vector("hyperscale_output_given_up_rows_total", "Rows of those jobs that the sink lacks: those of its windows, and of their results."),
		requests: vector("hyperscale_output_given_up_requests_total", "Requests that only those rows count."),
	}
}

func (l *lacks) add(sink string, jobs, rows, requests uint64) {
	l.jobs.WithLabelValues(sink).Add(float64(jobs))
	l.rows.WithLabelValues(sink).Add(float64(rows))
	l.requests.WithLabelValues(sink).Add(float64(requests))
}

// lost are the rows and requests that sinks lack of jobs whose delivery has ended, by sink: those that a failed try gave up,
// and those that were given up before a try.
type lost struct {
	mu  sync.Mutex
	all map[string]lostOf
}

type lostOf struct{ rows, requests uint64 }

func (l *lost) add(sink string, rows, requests uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.all[sink]
	l.all[sink] = lostOf{one.rows + rows, one.requests + requests}
}

func (l *lost) of(sink string) lostOf {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all[sink]
}

func newGates() gates {
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	histogram := func(name, help string) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: []float64{.1, .3, 1, 3, 10, 30, 60, 120, 300, 600, 1800, 3600}})
	}
	g := gates{
		letters:     gauge("hyperscale_gate_dead_letters", "Dead letters that this gate keeps, at its last sweep."),
		letterBytes: gauge("hyperscale_gate_dead_letter_bytes", "Bytes of the programs of these dead letters."),
		paced:       gauge("hyperscale_gate_dispatch_rate_ratio", "Share of gate.dispatch_rate_max at which a gate dispatches: below 1, jobs take too long to start."),
		circuit:     gauge("hyperscale_gate_circuit_state", "Circuit breaker around majorities of the gates: 0 closed, 1 a trial is on its way, 2 open."),
		level:       gauge("hyperscale_gate_load_level", "0 normal, 1 a signal is beyond its warning, 2 one is critical, 3 two are."),
		waited:      histogram("hyperscale_gate_queue_wait_seconds", "How long jobs waited in the queue before their last dispatch."),
		began:       histogram("hyperscale_gate_start_seconds", "From the dispatch of a job until managers have taken all of it."),
	}
	g.wanted = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "hyperscale_gate_wanted_cores", Help: "Cores of a datacenter that jobs of this gate want: those that run, and those that wait."}, []string{"datacenter"})
	g.lacks, g.lost = newLacks(), &lost{all: map[string]lostOf{}}
	g.paced.Set(1)
	return g
}

func (g *gates) register(r *prometheus.Registry) {
	r.MustRegister(g.letters, g.letterBytes, g.paced, g.circuit, g.level, g.waited, g.began, g.wanted, g.lacks.jobs, g.lacks.rows, g.lacks.requests)
}

// observe counts an event of gates, and says whether it is one.
func (g *gates) observe(ev node.Event) bool {
	switch ev := ev.(type) {
	case event.LettersKept:
		g.letters.Set(float64(ev.Letters))
		g.letterBytes.Set(float64(ev.Bytes))
	case event.DispatchesPaced:
		g.paced.Set(float64(ev.Rate) / float64(max(1, ev.Bound)))
	case event.CircuitChanged:
		if ev.Peer != "" {
			return false // of a worker: counted by name
		}
		g.circuit.Set(map[string]float64{"half-open": 1, "open": 2}[ev.State])
	case event.LoadChanged:
		g.level.Set(float64(ev.Rank))
	case event.CoresWanted:
		g.wanted.WithLabelValues(ev.Datacenter).Set(float64(ev.Cores))
	case event.SinkEnded:
		if ev.Again {
			break
		}
		g.lost.add(ev.Sink, ev.Lost, ev.LostRequests)
		if ev.Failed != "" {
			g.lacks.add(ev.Sink, 1, ev.Lost, ev.LostRequests)
		}
	case event.JobBegan:
		g.waited.Observe(ev.Waited.Seconds())
		g.began.Observe(ev.Took.Seconds())
	default:
		return false
	}
	return true
}
