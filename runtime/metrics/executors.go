package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"hyperscale/core/event"
	"hyperscale/core/node"
)

// executors are the metrics of a worker's executors.
type executors struct {
	gone    prometheus.Counter
	watched *prometheus.CounterVec
	memory  *prometheus.CounterVec
}

func newExecutors() executors {
	vector := func(name, help, label string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{label})
	}
	return executors{
		gone:    prometheus.NewCounter(prometheus.CounterOpts{Name: "hyperscale_executor_deaths_total", Help: "Executors that ended, and not as asked."}),
		watched: vector("hyperscale_executor_watch_total", "Changes of what this worker thinks of its executors' loops, by the new state; stuck = it kills one.", "state"),
		memory:  vector("hyperscale_executor_memory_total", "Changes of how near executors of this worker are to their budgets of memory, by the new level; killed = it ends one for that.", "level"),
	}
}

func (e *executors) register(r *prometheus.Registry) { r.MustRegister(e.gone, e.watched, e.memory) }

// observe counts an event of executors.
func (e *executors) observe(ev node.Event) {
	switch ev := ev.(type) {
	case event.ExecutorGone:
		e.gone.Inc()
	case event.ExecutorWatched:
		e.watched.WithLabelValues(ev.State).Inc()
	case event.MemoryLevel:
		e.memory.WithLabelValues(ev.Level).Inc()
	}
}
