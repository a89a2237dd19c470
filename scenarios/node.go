package scenarios

import (
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/sim"
)

// datacenter returns the i-th datacenter's name, from 0.
func datacenter(i int) string { return "dc-" + string(rune('a'+i)) }

// costs are the CPU times of the handlers, from profiles of the roles rounded up
// to a slow machine.
func costs() sim.Costs {
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

// add gives a node what all have in common: costs, and a clock that is off and
// drifts within the bound.
func (s *stage) add(spec sim.Spec) node.ID {
	spec.Costs = costs()
	offset := s.rand.Duration(0, time.Hour)
	if spec.ClockOffset == 0 {
		spec.ClockOffset = offset
	}
	spec.DriftPPM = int64(s.rand.N(2*driftMax+1)) - driftMax
	s.world.Add(spec)
	s.nodes = append(s.nodes, spec.ID)
	return spec.ID
}

// driftMax is the bound within which clocks of a healthy cluster drift, in parts
// per million: cheap quartz.
const driftMax = 100

// record is the moment of a judgement about a node.
func (s *stage) record(id node.ID) checker.Record {
	return checker.Record{At: s.world.Now(), Node: id, Event: event.Ignored{}}
}
