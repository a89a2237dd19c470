package gates

import (
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/node"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

func recoverWorlds() []stage.Scenario {
	return []stage.Scenario{{
		Name: "groups-recovered", Virtual: 150 * time.Second, Build: cluster.On(buildGroupsRecovered),
		Doc: "Two of three gates, and two of three managers of a datacenter, lose their disks, with terms that the third does not know. Each group is recovered from the remaining disk. Within ten seconds all know one leader. Then one of the blank members loses its disk again and its registers join. Before it is a voter it hears only the recovered member. It does not become a voter until it hears the third. No term has two leaders.",
	}, {
		Name: "clocks-at-zero", Virtual: 160 * time.Second, Build: cluster.On(buildClocksAtZero),
		Doc: "All nodes start at one instant, and their clocks read zero, as on machines that have just booted. No node mistakes an instant of zero for never. Within ten seconds each group has a leader that all know, no node gives another up, and every job completes.",
	}}
}

func buildClocksAtZero(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Zero = true
	s.Standard(t, func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Until = 3*time.Second, 4*time.Second, 3, 20*time.Second
	})
	s.Complete, s.Served = true, true
	s.Checker.Promise(checker.Promises{Once: true})
	s.LosesNoPeer(0, s.Options.Virtual)
	for _, w := range []*electoral{watchElections(s, checker.GroupGates, s.Gates), watchElections(s, stage.Datacenter(0), s.Managers)} {
		w.World.At(10*time.Second, w.agreed("ten seconds of running"))
	}
}

// electoral is one group of a cluster, and its leader as its members report it.
type electoral struct {
	*cluster.Cluster
	group string
	ids   []node.ID // the group is recovered from the first one
	leads node.ID   // the last one elected
	term  uint64
	known map[node.ID]event.LeaderKnown
}

// watchElections watches a group, whose members are drawn into an order.
func watchElections(s *cluster.Cluster, group string, ids []node.ID) *electoral {
	w := &electoral{Cluster: s, group: group, ids: s.Choose(ids, len(ids)), known: map[node.ID]event.LeaderKnown{}}
	s.Witness = append(s.Witness, func(r checker.Record) {
		switch e := r.Event.(type) {
		case event.Elected:
			if e.Group == group {
				w.leads, w.term = r.Node, e.Term
			}
		case event.LeaderKnown:
			if e.Group == group {
				w.known[r.Node] = e
			}
		}
	})
	return w
}

// crash ends a running member; it starts again after a while.
func (w *electoral) crash(at, length time.Duration, which func() node.ID, diskless bool) {
	w.World.At(at, func() {
		id := which()
		if !w.World.Alive(id) {
			return
		}
		w.World.Crash(id)
		delete(w.known, id)
		if diskless {
			w.loses(id)
		}
		w.World.At(at+length, func() { w.World.Start(id) })
	})
}

// loses removes the disk of a member that does not run.
func (w *electoral) loses(id node.ID) {
	w.World.Restore(id, nil)
	w.Checker.Forget(id)
}

// between cuts a member off from others.
func (w *electoral) between(at, length time.Duration, id node.ID, others ...node.ID) {
	w.Fault(sim.Fault{At: at, For: length, Kind: sim.FaultPartition, Nodes: stage.Names([]node.ID{id}), Peers: stage.Names(others)})
}

// agreed judges that all know one leader of one term.
func (w *electoral) agreed(since string) func() {
	return func() {
		for _, id := range w.ids {
			if k := w.known[id]; k.Leader == "" || k.Leader != w.leads || k.Term != w.term {
				w.Checker.Violate("T11", w.Record(id), "after %s it takes %q for the leader of %s in term %d, and %q was elected last, in term %d",
					since, k.Leader, w.group, k.Term, w.leads, w.term)
			}
		}
	}
}

func buildGroupsRecovered(s *cluster.Cluster) {
	s.Build(cluster.Topology{Gates: 3, Datacenters: 1, Managers: 3, Workers: 1, Cores: 1})
	for _, w := range []*electoral{watchElections(s, checker.GroupGates, s.Gates), watchElections(s, stage.Datacenter(0), s.Managers)} {
		w.losesMajority()
		w.losesOneMore()
	}
}

const (
	disksLost  = 18 * time.Second
	recovering = disksLost + time.Second
	// recovered is when a guard of the gates has passed, and the recovery is done.
	recovered = recovering + 33*time.Second
)

// losesMajority makes two members elect leaders. The third hears nothing of them, and their
// disks lose the terms.
func (w *electoral) losesMajority() {
	w.between(5*time.Second, disksLost-5*time.Second, w.ids[0], w.ids[1:]...)
	for _, at := range []time.Duration{9 * time.Second, 13 * time.Second} {
		w.crash(at, 300*time.Millisecond, func() node.ID { return w.leads }, false)
	}
	w.World.At(disksLost, func() {
		for i, id := range w.ids {
			w.World.Crash(id)
			if i > 0 {
				w.loses(id)
			}
		}
		clear(w.known)
	})
	w.World.At(recovering, func() {
		w.Recovers[w.ids[0]] = true
		w.World.Start(w.ids[0])
	})
	back := recovered + time.Second
	if w.Rand.Chance(1, 2) { // they wait for it
		back = recovering + time.Second
	}
	for _, id := range w.ids[1:] {
		w.World.At(back, func() { w.World.Start(id) })
	}
	w.World.At(recovered, func() {
		w.World.Crash(w.ids[0])
		delete(w.Recovers, w.ids[0])
		w.World.Start(w.ids[0])
	})
	w.Judge(recovered+11*time.Second, w.agreed("ten seconds of all being back"))
}

// losesOneMore makes the two formerly blank members elect a leader without the third. Then one
// of them loses its disk, and soon hears only the third.
func (w *electoral) losesOneMore() {
	at := recovered + 15*time.Second
	w.between(at, 8*time.Second, w.ids[0], w.ids[1:]...)
	w.crash(at+2*time.Second, 300*time.Millisecond, func() node.ID {
		if w.leads == w.ids[0] {
			return w.ids[1]
		}
		return w.leads
	}, false)
	at += 8 * time.Second
	w.between(at-time.Millisecond, 12*time.Second, w.ids[2], w.ids[0])
	w.between(at+2600*time.Millisecond, 10*time.Second, w.ids[2], w.ids[1]) // its registers have joined
	w.crash(at-time.Millisecond, 400*time.Millisecond, func() node.ID { return w.ids[1] }, true)
	w.Judge(at+22*time.Second, w.agreed("ten seconds in which one that had lost its disk again could hear all"))
}
