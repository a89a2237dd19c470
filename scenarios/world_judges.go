package scenarios

import (
	"slices"
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// attemptAt is an attempt of a shard on a worker.
type attemptAt struct {
	worker     node.ID
	datacenter string
	shard      message.ShardID
}

// oneDatacenter judges that executors of a job that names no datacenter never run
// in two of them at a time.
func (s *cluster) oneDatacenter() {
	running := map[message.JobID][]attemptAt{}
	s.witness = append(s.witness, func(r checker.Record) {
		e, ok := r.Event.(event.ShardStarted)
		if !ok {
			return
		}
		job := e.Shard.Job
		running[job] = slices.DeleteFunc(running[job], func(a attemptAt) bool { return !s.world.Executes(a.worker, a.shard) })
		for _, a := range running[job] {
			if a.datacenter != e.Datacenter {
				s.checker.Violate("T13", r, "shard %v was started in %s while shard %v of its job still ran in %s on %s", e.Shard, e.Datacenter, a.shard, a.datacenter, a.worker)
			}
		}
		running[job] = append(running[job], attemptAt{r.Node, e.Datacenter, e.Shard})
	})
}

// losesNobody judges that no gate and no manager gives another one up in a time in
// which nobody was cut off.
func (s *cluster) losesNobody(from, to time.Duration) {
	s.witness = append(s.witness, func(r checker.Record) {
		if e, ok := r.Event.(event.PeerLost); ok && r.At >= from && r.At < to {
			s.checker.Violate("P", r, "%s gave %s up, which was only slow: %s", r.Node, e.Peer, e.Reason)
		}
	})
}

// endsWithin judges that an acknowledged job is shown as ended to its client within a
// bound.
func (s *cluster) endsWithin(bound time.Duration) {
	s.verdicts = append(s.verdicts, func() {
		for _, o := range s.orders {
			if o.acked && o.results > 0 && o.ended-o.at > bound {
				s.checker.Violate("P", s.record(o.client), "job %v took %v from its acknowledgement to its result, at most %v were called for", o.job, o.ended-o.at, bound)
			}
		}
	})
}
