package cluster

import (
	"slices"

	"hyperscale/checker"
	"hyperscale/sim"
)

// finishOrders judges what holds for a run of any length: no submission created two jobs, and
// workflows ran in the order of their plan.
func (s *Cluster) finishOrders() {
	if accepted, _ := s.Checker.Jobs(); accepted > len(s.Orders)+s.Replays {
		s.Checker.Violate("T8", checker.Record{At: s.World.Now()}, "%d jobs were accepted of %d submissions", accepted, len(s.Orders)+s.Replays)
	}
	for _, o := range s.Orders {
		if !o.Acked {
			continue
		}
		for i := range o.Plan.Workflows {
			for _, on := range o.Plan.Workflows[i].Depends {
				s.Checker.Depends(s.Record(o.Client), o.Job, uint32(i), on)
			}
		}
	}
}

// finishClients judges that every acknowledged job's result has reached the client that watches
// it, unless that client crashed.
func (s *Cluster) finishClients() {
	crashed := map[string]bool{}
	for _, f := range s.Faults {
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
	for _, id := range s.Clients {
		if len(s.Core) > 0 && !slices.Contains(s.Core, id) {
			crashed[string(id)] = true // it waits for ever
		}
	}
	for _, o := range s.Orders {
		if o.Acked && o.results == 0 && !o.forgotten && o.At <= s.World.Now()-s.Within && !crashed[string(o.Client)] {
			s.Checker.Violate("T11", s.Record(o.Client), "job %v was acknowledged, and %s still waits for its result", o.Job, o.Client)
		}
	}
}
