package scenarios

import (
	"slices"

	"hyperscale/checker"
	"hyperscale/sim"
)

// finishOrders judges what holds however short the run was: no submission made
// two jobs, and what a plan says of the order of its workflows was obeyed.
func (s *cluster) finishOrders() {
	if accepted, _ := s.checker.Jobs(); accepted > len(s.orders) {
		s.checker.Violate("T8", checker.Record{At: s.world.Now()}, "%d jobs were accepted of %d submissions", accepted, len(s.orders))
	}
	for _, o := range s.orders {
		if !o.acked {
			continue
		}
		for i := range o.plan.Workflows {
			for _, on := range o.plan.Workflows[i].Depends {
				s.checker.Depends(s.record(o.client), o.job, uint32(i), on)
			}
		}
	}
}

// finishClients judges that every acknowledged job's result has reached the
// client that watches it, if that client never crashed.
func (s *cluster) finishClients() {
	crashed := map[string]bool{}
	for _, f := range s.faults {
		if f.Kind != sim.FaultCrash && f.Kind != sim.FaultStop {
			continue
		}
		if len(f.Nodes) == 0 {
			return
		}
		for _, id := range f.Nodes {
			crashed[id] = true
		}
	}
	for _, id := range s.clients {
		if len(s.core) > 0 && !slices.Contains(s.core, id) {
			crashed[string(id)] = true // it waits for ever
		}
	}
	for _, o := range s.orders {
		if o.acked && o.results == 0 && !o.forgotten && o.at <= s.world.Now()-s.within && !crashed[string(o.client)] {
			s.checker.Violate("T11", s.record(o.client), "job %v was acknowledged, and %s still waits for its result", o.job, o.client)
		}
	}
}
