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
}

func newGates() gates {
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	return gates{
		letters:     gauge("hyperscale_gate_dead_letters", "Dead letters that this gate keeps, at its last sweep."),
		letterBytes: gauge("hyperscale_gate_dead_letter_bytes", "Bytes of the programs of these dead letters."),
	}
}

func (g *gates) register(r *prometheus.Registry) { r.MustRegister(g.letters, g.letterBytes) }

// observe counts an event of gates, and says whether it is one.
func (g *gates) observe(ev node.Event) bool {
	switch ev := ev.(type) {
	case event.LettersKept:
		g.letters.Set(float64(ev.Letters))
		g.letterBytes.Set(float64(ev.Bytes))
	default:
		return false
	}
	return true
}
