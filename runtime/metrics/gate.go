package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"hyperscale/core/event"
	"hyperscale/core/node"
)

// gates are the metrics that gates alone move.
type gates struct {
	letters     prometheus.Gauge
	letterBytes prometheus.Gauge
	paced       prometheus.Gauge
}

func newGates() gates {
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	g := gates{
		letters:     gauge("hyperscale_gate_dead_letters", "Dead letters that this gate keeps, at its last sweep."),
		letterBytes: gauge("hyperscale_gate_dead_letter_bytes", "Bytes of the programs of these dead letters."),
		paced:       gauge("hyperscale_gate_dispatch_rate_ratio", "Share of gate.dispatch_rate_max at which a gate dispatches: below 1, jobs take too long to start."),
	}
	g.paced.Set(1)
	return g
}

func (g *gates) register(r *prometheus.Registry) { r.MustRegister(g.letters, g.letterBytes, g.paced) }

// observe counts an event of gates, and says whether it is one.
func (g *gates) observe(ev node.Event) bool {
	switch ev := ev.(type) {
	case event.LettersKept:
		g.letters.Set(float64(ev.Letters))
		g.letterBytes.Set(float64(ev.Bytes))
	case event.DispatchesPaced:
		g.paced.Set(float64(ev.Rate) / float64(max(1, ev.Bound)))
	default:
		return false
	}
	return true
}
