package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"hyperscale/core/event"
	"hyperscale/core/node"
)

// discovery are the metrics of names. Their label is a name of the configuration, of which a node has
// 16 at most.
type discovery struct {
	candidates *prometheus.GaugeVec
	failing    *prometheus.GaugeVec
	changes    *prometheus.CounterVec
}

func newDiscovery() discovery {
	gauge := func(name, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{"name"})
	}
	return discovery{
		candidates: gauge("hyperscale_discovery_candidates", "Addresses of a name that this node connects to."),
		failing:    gauge("hyperscale_discovery_failing", "1 while look-ups of the name fail or find nothing, else 0; the node keeps the candidates that it has."),
		changes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hyperscale_discovery_changes_total", Help: "Addresses that came to names or left them.",
		}, []string{"name", "change"}),
	}
}

func (d *discovery) register(r *prometheus.Registry) {
	r.MustRegister(d.candidates, d.failing, d.changes)
}

// observe counts an event of names, and says whether it is one.
func (d *discovery) observe(ev node.Event) bool {
	switch ev := ev.(type) {
	case event.NameResolved:
		d.candidates.WithLabelValues(ev.Name).Set(float64(ev.Addrs))
		d.failing.WithLabelValues(ev.Name).Set(0)
		d.changes.WithLabelValues(ev.Name, "added").Add(float64(ev.Added))
		d.changes.WithLabelValues(ev.Name, "removed").Add(float64(ev.Removed))
	case event.NameFailed:
		d.candidates.WithLabelValues(ev.Name).Set(float64(ev.Kept))
		d.failing.WithLabelValues(ev.Name).Set(1)
	default:
		return false
	}
	return true
}
