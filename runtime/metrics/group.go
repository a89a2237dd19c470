package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"hyperscale/core/event"
	"hyperscale/core/node"
)

// group counts what this node and its peers own, which of them it considers alive, and which
// one leads: the registers, the membership and the election of one group.
type group struct {
	registers
	membership
	leadership
}

// registers counts leases and the registers below them.
type registers struct {
	grants     prometheus.Counter
	extensions prometheus.Counter
	ends       *prometheus.CounterVec
	held       prometheus.Gauge
	calls      *prometheus.CounterVec
	returns    *prometheus.CounterVec
	writes     prometheus.Counter
	member     prometheus.Gauge
	level      prometheus.Gauge
	joins      *prometheus.CounterVec
	alarms     prometheus.Counter
	sets       prometheus.Counter
	version    prometheus.Gauge
	clocks     *prometheus.CounterVec
}

// membership counts whom this node takes for alive.
type membership struct {
	changes *prometheus.CounterVec
	members *prometheus.GaugeVec
	health  prometheus.Gauge
}

// leadership counts elections.
type leadership struct {
	votes   prometheus.Counter
	wins    prometheus.Counter
	steps   prometheus.Counter
	leads   prometheus.Gauge
	term    prometheus.Gauge
	leaders prometheus.Counter
}

func newGroup() group {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	vector := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	return group{registers: registers{
		grants:     counter("hyperscale_lease_grants_total", "Leases that a majority granted to this node: of jobs at a gate, of subjobs at a manager."),
		extensions: counter("hyperscale_lease_extensions_total", "Renewals and updates of leases that a majority accepted."),
		ends:       vector("hyperscale_lease_ends_total", "Leases that this node gave up or lost: released, transferred, expired, superseded.", "reason"),
		held:       gauge("hyperscale_lease_held", "Leases that this node holds."),
		calls:      vector("hyperscale_lease_calls_total", "Operations begun on registers.", "operation"),
		returns:    vector("hyperscale_lease_returns_total", "Operations on registers that ended: ok, or failed without effect.", "outcome"),
		writes:     counter("hyperscale_lease_acceptor_writes_total", "Promises and accepts for registers that this node wrote and told."),
		member:     gauge("hyperscale_lease_member", "1 while this node is a member of its group and speaks for its disk, else 0."),
		level:      gauge("hyperscale_lease_level", "The level that this node's group has reached while it runs: the minor version of what the group writes; 0 until it rises, or at the first one."),
		joins:      vector("hyperscale_lease_joins_total", "How this node became a member: founded, restarted, rejoined, recovered.", "how"),
		alarms:     counter("hyperscale_lease_alarms_total", "Alarms of the group that wait for an operator: see the log."),
		sets:       counter("hyperscale_lease_set_mismatches_total", "Nodes refused because their configured set differs from this one's."),
		version:    gauge("hyperscale_group_set_version", "How many seats of this node's group were given to other addresses."),
		clocks:     vector("hyperscale_node_clock_alarms_total", "Clocks of peers that drift faster than the bound, or have jumped.", "kind"),
	}, membership: membership{
		changes: vector("hyperscale_swim_changes_total", "Members of the group that this node moved into a state.", "state"),
		members: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "hyperscale_swim_members", Help: "Other members of the group, by state."}, []string{"state"}),
		health:  gauge("hyperscale_swim_health_multiplier", "How unwell this node takes itself to be: 0 is well, 8 the worst."),
	}, leadership: leadership{
		votes:   counter("hyperscale_election_votes_total", "Votes that this node gave."),
		wins:    counter("hyperscale_election_wins_total", "Elections that this node won."),
		steps:   counter("hyperscale_election_step_downs_total", "Times that this node ceased to lead."),
		leads:   gauge("hyperscale_election_leader", "1 while this node leads its group, else 0."),
		term:    gauge("hyperscale_election_term", "The newest term that this node has voted, won or heard of a leader in."),
		leaders: counter("hyperscale_election_leader_changes_total", "Times that this node heard of another leader, or of none."),
	}}
}

func (g *group) register(r *prometheus.Registry) {
	r.MustRegister(g.grants, g.extensions, g.ends, g.held, g.calls, g.returns, g.writes, g.member, g.level, g.joins, g.alarms, g.sets, g.clocks,
		g.changes, g.members, g.health, g.votes, g.wins, g.steps, g.leads, g.term, g.leaders)
}

func (g *group) observe(ev node.Event) {
	switch ev := ev.(type) {
	case event.LeaseGranted:
		g.grants.Inc()
		g.held.Inc()
	case event.LeaseExtended:
		g.extensions.Inc()
	case event.LeaseEnded:
		g.ends.WithLabelValues(ev.Reason).Inc()
		g.held.Dec()
	case event.LeaseCalled:
		g.calls.WithLabelValues(ev.What).Inc()
	case event.LeaseReturned:
		outcome := "failed"
		if ev.OK {
			outcome = "ok"
		}
		g.returns.WithLabelValues(outcome).Inc()
	case event.AcceptorWrote:
		g.writes.Inc()
	case event.GroupJoined:
		g.joins.WithLabelValues(ev.How).Inc()
		g.member.Set(1)
	case event.GroupLevel:
		g.level.Set(float64(ev.Level))
	case event.GroupAlarm:
		g.alarms.Inc()
		if !ev.Speaks {
			g.member.Set(0)
		}
	case event.GroupRefused:
		g.sets.Inc()
	case event.GroupMoved:
		g.version.Set(float64(ev.Version))
	case event.ClockSuspect:
		kind := "drift"
		if ev.Jump {
			kind = "jump"
		}
		g.clocks.WithLabelValues(kind).Inc()
	default:
		g.observeMembers(ev)
	}
}

func (g *group) observeMembers(ev node.Event) {
	switch ev := ev.(type) {
	case event.MemberChanged:
		g.changes.WithLabelValues(ev.To).Inc()
		if ev.From != "unknown" {
			g.members.WithLabelValues(ev.From).Dec()
		}
		if ev.To != "removed" {
			g.members.WithLabelValues(ev.To).Inc()
		}
	case event.HealthChanged:
		g.health.Set(float64(ev.Multiplier))
	case event.Voted:
		g.votes.Inc()
		g.term.Set(float64(ev.Term))
	case event.Elected:
		g.wins.Inc()
		g.leads.Set(1)
		g.term.Set(float64(ev.Term))
	case event.SteppedDown:
		g.steps.Inc()
		g.leads.Set(0)
	case event.LeaderKnown:
		g.leaders.Inc()
		g.term.Set(float64(ev.Term))
	}
}
