package cluster

import (
	"fmt"
	"slices"
	"strings"
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

// OneDatacenter judges that executors of a job that names no datacenter never run in two
// datacenters at a time.
func (s *Cluster) OneDatacenter() {
	running := map[message.JobID][]attemptAt{}
	s.Witness = append(s.Witness, func(r checker.Record) {
		e, ok := r.Event.(event.ShardStarted)
		if !ok {
			return
		}
		job := e.Shard.Job
		running[job] = slices.DeleteFunc(running[job], func(a attemptAt) bool { return !s.World.Executes(a.worker, a.shard) })
		for _, a := range running[job] {
			if a.datacenter != e.Datacenter {
				s.Checker.Violate("T13", r, "shard %v was started in %s while shard %v of its job still ran in %s on %s", e.Shard, e.Datacenter, a.shard, a.datacenter, a.worker)
			}
		}
		running[job] = append(running[job], attemptAt{r.Node, e.Datacenter, e.Shard})
	})
}

// LosesNoPeer judges that no gate and no manager gives up another one in a time without
// partitions.
func (s *Cluster) LosesNoPeer(from, to time.Duration) {
	s.Witness = append(s.Witness, func(r checker.Record) {
		if e, ok := r.Event.(event.PeerLost); ok && r.At >= from && r.At < to {
			s.Checker.Violate("P", r, "%s gave %s up, which was only slow: %s", r.Node, e.Peer, e.Reason)
		}
	})
}

// EndsWithin judges that each acknowledged job's client learns of its end within a bound.
func (s *Cluster) EndsWithin(bound time.Duration) {
	s.Verdicts = append(s.Verdicts, func() {
		for _, o := range s.Orders {
			if o.Acked && o.results > 0 && o.ended-o.At > bound {
				s.Checker.Violate("P", s.Record(o.Client), "job %v took %v from its acknowledgement to its result, at most %v were called for", o.Job, o.ended-o.At, bound)
			}
		}
	})
}

// Reaches judges that each run of this world visits rare states of machines: else its other
// judges have nothing to judge.
func (s *Cluster) Reaches(states ...string) {
	s.Verdicts = append(s.Verdicts, func() {
		reached := s.Checker.Reached()
		for _, state := range states {
			if reached[state] == 0 && s.Options.Faults == nil {
				s.Checker.Violate("P", checker.Record{At: s.World.Now()}, "this world is to reach %s, and this run did not", state)
			}
		}
	})
}

// losesNothing judges T10b: while nothing but load befalls a world, no lease expires, no node gives
// another up, the membership declares none dead, and no attempt is lost for its worker's silence.
func losesNothing(s *Cluster, r checker.Record) {
	what := ""
	switch e := r.Event.(type) {
	case event.LeaseEnded:
		if e.Reason == "expired" {
			what = fmt.Sprintf("lost the lease of job %v in %s", e.Job, e.Group)
		}
	case event.PeerLost:
		what = fmt.Sprintf("gave %s up (%s)", e.Peer, e.Reason)
	case event.MemberChanged:
		if e.To == "dead" {
			what = fmt.Sprintf("declared %s dead (%s)", e.Member, e.Reason)
		}
	case event.ShardLost:
		if strings.HasPrefix(e.Reason, "its worker") {
			what = fmt.Sprintf("lost shard %v on %s (%s)", e.Shard, e.Worker, e.Reason)
		}
	}
	if what != "" && !s.World.Harmed() && !s.Beyond && !altered(s) {
		s.Checker.Violate("T10b", r, "%s %s, and nothing but load has befallen this world", r.Node, what)
	}
}

// altered says that a node of this world is not as in production, or does not hear all messages.
func altered(s *Cluster) bool {
	t := &s.topology
	return t.Past || t.Open || s.Arrives != nil || s.Meets != nil || len(s.World.Nodes()) != len(s.Nodes)
}
