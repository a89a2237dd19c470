package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// events counts core/event's catalogue. All of them are counted by name; those
// that an operator would draw get a metric of their own.
type events struct {
	all       *prometheus.CounterVec
	jobs      *prometheus.CounterVec
	workflows *prometheus.CounterVec
	shards    *prometheus.CounterVec
	lost      prometheus.Counter
	budgets   *prometheus.CounterVec
	executors executors
	fences    prometheus.Counter
	peers     *prometheus.CounterVec
	disk      prometheus.Counter
	shed      *prometheus.CounterVec
	claims    *prometheus.CounterVec
	ignored   prometheus.Counter
	forged    *prometheus.CounterVec
	bounds    bounds
	gates     gates
	alerts    alerts
	group     group
	names     discovery
}

// bounds are the metrics of bounds that reject requests.
type bounds struct{ used, limit, near *prometheus.GaugeVec }

func newEvents() events {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	vector := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	gauges := func(name, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{"setting"})
	}
	return events{
		all:       vector("hyperscale_node_events_total", "Decisions of this node, by the name of their event.", "event"),
		jobs:      vector("hyperscale_job_transitions_total", "Jobs that this gate moved into a state.", "state"),
		workflows: vector("hyperscale_workflow_transitions_total", "Workflows that this manager moved into a state.", "state"),
		shards:    vector("hyperscale_shard_transitions_total", "Shards that this worker started, or ended in a state.", "state"),
		lost:      counter("hyperscale_shard_losses_total", "Attempts given up because their worker was lost or denied them."),
		fences:    counter("hyperscale_fence_refusals_total", "Orders and reports refused for a stale fence."),
		budgets:   vector("hyperscale_budget_spent_total", "Workflows that failed because workers lost their shards more often than a budget allows.", "scope"),
		peers:     vector("hyperscale_peer_changes_total", "Peers that registered or were lost.", "role", "change"),
		disk:      counter("hyperscale_store_refusals_total", "Writes that the disk refused, as the machine saw them."),
		shed:      vector("hyperscale_node_shed_requests_total", "What this node refused, dropped or gave up, by reason and by the priority of the message; none = it was about no message.", "reason", "priority"),
		claims:    vector("hyperscale_worker_claims_refused_total", "Shards that this worker refused, by reason; slots = too many results wait for their managers.", "reason"),
		ignored:   counter("hyperscale_node_ignored_messages_total", "Messages that made no sense in this state or to this role."),
		forged:    vector("hyperscale_node_implausible_numbers_total", "Numbers and records of peers that this node rejected because no honest node can say them yet, by what they count.", "what"),
		bounds: bounds{
			used:  gauges("hyperscale_node_bound_used", "How much of a bound is used; beyond the bound the node rejects requests."),
			limit: gauges("hyperscale_node_bound_limit", "The bound, by the name of its setting."),
			near:  gauges("hyperscale_node_bound_near", "1 while 80 % of the bound are used, at workers 70 %, else 0."),
		},
		executors: newExecutors(),
		gates:     newGates(),
		alerts:    newAlerts(),
		group:     newGroup(),
		names:     newDiscovery(),
	}
}

// begin shows a zero for what has not happened yet, as far as its labels are known: the first increase of a
// series that is not there is none to Prometheus.
func (e *events) begin() {
	for _, reason := range event.ShedReasons() {
		e.shed.WithLabelValues(string(reason), "none").Add(0)
	}
	for _, reason := range []string{"released", "transferred", "expired", "superseded"} {
		e.group.ends.WithLabelValues(reason).Add(0)
	}
}

func (e *events) register(r *prometheus.Registry) {
	e.begin()
	r.MustRegister(e.all, e.jobs, e.workflows, e.shards, e.lost, e.budgets, e.fences, e.peers, e.disk, e.shed, e.claims, e.ignored, e.forged, e.bounds.used, e.bounds.limit, e.bounds.near)
	e.executors.register(r)
	e.gates.register(r)
	e.alerts.register(r)
	e.group.register(r)
	e.names.register(r)
}

// observe counts one event. Its name is one of the catalogue's, or of a test
// machine's: EventName is a constant of a type, so the set is closed.
func (e *events) observe(ev node.Event) {
	e.all.WithLabelValues(ev.EventName()).Inc()
	switch ev := ev.(type) {
	case event.JobChanged:
		e.jobs.WithLabelValues(ev.To.String()).Inc()
	case event.WorkflowChanged:
		e.workflows.WithLabelValues(ev.To.String()).Inc()
	case event.ShardStarted:
		e.shards.WithLabelValues("STARTED").Inc()
	case event.ShardEnded:
		e.shards.WithLabelValues(ev.State.String()).Inc()
	case event.ShardLost:
		e.lost.Inc()
	case event.BudgetSpent:
		e.budgets.WithLabelValues(ev.Scope).Inc()
	case event.ExecutorGone, event.ExecutorWatched, event.MemoryLevel:
		e.executors.observe(ev)
	case event.FenceRefused:
		e.fences.Inc()
	case event.PeerRegistered:
		e.peers.WithLabelValues(ev.Role.String(), "registered").Inc()
	case event.PeerLost:
		e.peers.WithLabelValues(ev.Role.String(), "lost").Inc()
	case event.StoreFailed:
		e.disk.Inc()
	case event.Shed:
		priority := "none"
		if ev.Kind != 0 {
			priority = ev.Priority.String()
		}
		e.shed.WithLabelValues(string(ev.Reason), priority).Inc()
		if ev.Kind == message.KindShardDispatch {
			e.claims.WithLabelValues(string(ev.Reason)).Inc()
		}
	case event.Ignored:
		e.ignored.Inc()
	case event.Implausible:
		e.forged.WithLabelValues(ev.What).Inc()
	case event.BoundUsed:
		e.bounds.used.WithLabelValues(ev.Setting).Set(float64(ev.Used))
		e.bounds.limit.WithLabelValues(ev.Setting).Set(float64(ev.Bound))
	case event.BoundNear:
		near := 0.0
		if ev.Near {
			near = 1
		}
		e.bounds.near.WithLabelValues(ev.Setting).Set(near)
	default:
		if !e.gates.observe(ev) && !e.alerts.observe(ev) && !e.names.observe(ev) {
			e.group.observe(ev)
		}
	}
}
