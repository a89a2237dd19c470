package stage

import (
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/sim"
)

// Datacenter returns the i-th datacenter's name, from 0.
func Datacenter(i int) string { return "dc-" + string(rune('a'+i)) }

// Costs returns the CPU times of the handlers, from profiles of the roles, rounded up to a slow
// machine.
func Costs() sim.Costs {
	return sim.Costs{
		Default: 20 * time.Microsecond,
		ByKind: map[node.Kind]time.Duration{
			message.KindJobSubmit:     200 * time.Microsecond,
			message.KindJobDispatch:   200 * time.Microsecond,
			message.KindShardDispatch: 200 * time.Microsecond,
			message.KindShardProgress: 40 * time.Microsecond,
			message.KindJobProgress:   60 * time.Microsecond,
			message.KindShardResult:   100 * time.Microsecond,
			message.KindSubjobResult:  150 * time.Microsecond,
		},
	}
}

// Add adds a node with the common settings: costs, if it has none, and a clock that is off and drifts within
// the bound.
func (s *Stage) Add(spec sim.Spec) node.ID {
	if spec.Costs.Default == 0 {
		spec.Costs = Costs()
	}
	offset := s.Rand.Duration(0, time.Hour)
	if spec.ClockOffset == 0 {
		spec.ClockOffset = offset
	}
	spec.DriftPPM = int64(s.Rand.N(2*driftMax+1)) - driftMax
	s.World.Add(spec)
	s.Nodes = append(s.Nodes, spec.ID)
	return spec.ID
}

// driftMax bounds the drift of clocks in a healthy cluster, in parts per million: cheap quartz.
const driftMax = 100

// Record returns the moment of a judgement about a node.
func (s *Stage) Record(id node.ID) checker.Record {
	return checker.Record{At: s.World.Now(), Node: id, Event: event.Ignored{}}
}

// Datagrams posts every message as a datagram: the least reliable transport.
type Datagrams struct{}

// Post implements lease.Poster.
func (Datagrams) Post(env node.Env, to node.Addr, m node.Message) { env.Datagram(to, m) }
