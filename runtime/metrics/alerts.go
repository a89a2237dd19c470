package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"hyperscale/core/alert"
	"hyperscale/core/event"
	"hyperscale/core/node"
)

// alerts are the metrics of core/alert, and of what managers count for it.
type alerts struct {
	raised  *prometheus.GaugeVec
	changes *prometheus.CounterVec
	workers *prometheus.GaugeVec
	cores   *prometheus.GaugeVec
}

func newAlerts() alerts {
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	}
	a := alerts{
		raised: gauge("hyperscale_alert", "1 while this node reports the alert as raised; of a group, its leader does.", "alert", "severity", "group"),
		changes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hyperscale_alert_transitions_total", Help: "Alerts that this node raised or cleared; what a new leader takes over counts once, at the former one.",
		}, []string{"alert", "change"}),
		workers: gauge("hyperscale_manager_workers", "Workers as this manager sees them; overloaded ones are healthy, too, and those with an open circuit may be.", "state"),
		cores:   gauge("hyperscale_manager_cores", "Cores of healthy workers.", "state"),
	}
	for id := range alert.IDs {
		rule := alert.RuleOf(id)
		if !rule.Group {
			a.raised.WithLabelValues(rule.Name, rule.Severity(), "").Set(0)
		}
		a.changes.WithLabelValues(rule.Name, string(event.AlertRaised)).Add(0)
		a.changes.WithLabelValues(rule.Name, string(event.AlertCleared)).Add(0)
	}
	return a
}

func (a *alerts) register(r *prometheus.Registry) {
	r.MustRegister(a.raised, a.changes, a.workers, a.cores)
}

// observe counts an event of alerts, and says whether it is one.
func (a *alerts) observe(ev node.Event) bool {
	switch ev := ev.(type) {
	case event.Alert:
		raised := 0.0
		switch ev.Change {
		case event.AlertRaised, event.AlertTaken:
			raised = 1
		}
		a.raised.WithLabelValues(ev.Alert, ev.Severity, ev.Group).Set(raised)
		if ev.Change == event.AlertRaised || ev.Change == event.AlertCleared {
			a.changes.WithLabelValues(ev.Alert, string(ev.Change)).Inc()
		}
	case event.FleetCounted:
		for state, n := range map[string]uint32{"healthy": ev.Healthy, "unhealthy": ev.Unhealthy, "overloaded": ev.Overloaded, "draining": ev.Draining, "circuit-open": ev.Tripped} {
			a.workers.WithLabelValues(state).Set(float64(n))
		}
		a.cores.WithLabelValues("free").Set(float64(ev.CoresFree))
		a.cores.WithLabelValues("used").Set(float64(ev.CoresTotal - min(ev.CoresFree, ev.CoresTotal)))
	default:
		return false
	}
	return true
}
