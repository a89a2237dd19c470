package queue

import (
	"hyperscale/core/gate/places"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Ready is a job to dispatch, with the datacenters that it goes to.
type Ready struct {
	Turn *Turn
	To   []*places.Datacenter
}

// Ready returns, in their order, each job whose datacenters all have the free cores that it
// needs. A job that waits for cores keeps its datacenters from those behind it; a job whose
// datacenter is UNHEALTHY keeps none. The caller removes each from the queue.
func (q *Queue) Ready(in *places.Places, now node.Instant) []Ready {
	blocked := map[string]bool{}
	var ready []Ready
	for _, t := range q.turns {
		if len(blocked) == len(in.All()) {
			break
		}
		if to := t.targets(in, now, blocked); to != nil {
			ready = append(ready, Ready{t, to})
			for _, d := range to {
				d.Promise(Wants(t.plan, d))
			}
		}
	}
	for _, d := range in.All() {
		d.Keep()
	}
	return ready
}

// targets returns the datacenters where a job can run now. If there are none, it returns nil
// and blocks those that the job waits for.
func (t *Turn) targets(in *places.Places, now node.Instant, blocked map[string]bool) []*places.Datacenter {
	if len(t.Named) == 0 {
		return t.choose(in, now, blocked)
	}
	var to []*places.Datacenter
	wait := false
	for _, name := range t.Named {
		d := in.Datacenter(name)
		if d == nil || d.Health() == message.HealthUnhealthy {
			t.waits = name
			return nil
		}
		if !wait && (blocked[name] || d.Free() < needs(t.plan, d)) {
			wait, t.waits = true, name
		}
		to = append(to, d)
	}
	if wait {
		for _, name := range t.Named {
			blocked[name] = true
		}
		return nil
	}
	return to
}
