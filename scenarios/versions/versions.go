package versions

import (
	"slices"
	"strings"
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/lease/level"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// Worlds returns the worlds of several versions.
func Worlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "mixed-upgrade", Virtual: 5 * time.Minute, Build: cluster.On(buildRollingUpgrade),
			Doc: "A cluster of the former version runs jobs. Its nodes restart on this version, one at a time and in any order; some go back and come again. Owners crash, so that jobs and subjobs go from old nodes to new ones and back. An operator orders the new level all the time: no group takes it before its last member is new, and each has it in the end. Every job completes."},
		{Name: "mixed-downgrade", Virtual: 5 * time.Minute, Build: cluster.On(buildRollingDowngrade),
			Doc: "The nodes of a cluster go back to the former version, one at a time, while jobs run, and return. Then an operator finalizes. A gate and a manager that go back after that take no part, and say which version to start; the others go on. Once they are of the new version again, they are members. Every job completes."},
	}
}

// ages follows which node is of which version.
type ages struct {
	s       *cluster.Cluster
	of      map[node.ID]uint16 // version of each node that runs
	disk    map[node.ID]uint16 // level of each member
	level   map[string]uint16  // of each group: a majority has it
	first   map[string]uint16  // the highest that a member of it has
	refused map[node.ID]bool   // nodes that said which version to start
	late    func(node.ID) bool // nodes that went back after the level rose; nil: none did
}

const (
	upgradeGap = 5 * time.Second
	restartFor = 2 * time.Second
)

// begin builds a cluster of nodes of one version.
func begin(s *cluster.Cluster, minor uint16) *ages {
	a := &ages{s: s, of: map[node.ID]uint16{}, level: map[string]uint16{}, first: map[string]uint16{}, disk: map[node.ID]uint16{}, refused: map[node.ID]bool{}}
	t := cluster.GroupTopology()
	t.Ages = a.of
	for _, id := range names(t) {
		a.of[id] = minor
	}
	for _, id := range []node.ID{"client-1", "client-2"} {
		a.of[id] = message.Minor
	}
	s.Standard(t, func(l *cluster.Load) { l.Every, l.Duration, l.Cores = 4*time.Second, 6*time.Second, 2 })
	s.Complete, s.Served = true, true
	s.Witness = append(s.Witness, a.judge)
	s.Shown = func(o *cluster.Order, st *message.JobStatus) {
		if st.Takeovers > 0 && a.level[checker.GroupGates] < level.Takeovers {
			s.Checker.Violate("V", s.Record(o.Client), "job %v counts %d takeovers, and an older gate may own it next", o.Job, st.Takeovers)
		}
	}
	s.Verdicts = append(s.Verdicts, a.finish)
	return a
}

// names are the nodes of a topology that an operator upgrades.
func names(t cluster.Topology) (all []node.ID) {
	for i := range t.Gates {
		all = append(all, node.ID("gate-"+string(rune('1'+i))))
	}
	for i := range t.Managers {
		all = append(all, node.ID("manager-"+stage.Datacenter(0)+"-"+string(rune('1'+i))))
	}
	for i := range t.Workers {
		all = append(all, node.ID("worker-"+stage.Datacenter(0)+"-"+string(rune('1'+i))))
	}
	return all
}

// restart starts a node again, on a version.
func (a *ages) restart(id node.ID, at time.Duration, minor uint16) {
	kind := sim.FaultStop
	if a.s.Rand.Chance(1, 2) {
		kind = sim.FaultCrash
	}
	a.s.World.At(at+restartFor-time.Millisecond, func() { a.of[id] = minor })
	a.s.Fault(sim.Fault{At: at, For: restartFor, Kind: kind, Nodes: []string{string(id)}})
}

// shuffled returns the nodes in a drawn order.
func (a *ages) shuffled() []node.ID {
	all := slices.Concat(a.s.Gates, a.s.Managers, a.s.Workers)
	for i := range all {
		k := i + a.s.Rand.Int(len(all)-i)
		all[i], all[k] = all[k], all[i]
	}
	return all
}

// order plays the operator, who orders the level at one gate after the other.
func (a *ages) order(from, until time.Duration) {
	for at := from; at < until; at += 3 * time.Second {
		a.s.World.At(at, func() {
			a.s.World.Command("client-1", &message.UpgradeFinalize{}, func(node.Message) {})
		})
	}
}

func buildRollingUpgrade(s *cluster.Cluster) {
	a := begin(s, 0)
	at, failed := 10*time.Second, 0
	for _, id := range a.shuffled() {
		a.restart(id, at.Truncate(stage.Tick), message.Minor)
		at += upgradeGap
		if failed < 2 && s.Rand.Chance(1, 4) { // it fails on the new version: back, and again
			a.restart(id, at.Truncate(stage.Tick), 0)
			a.restart(id, (at + upgradeGap).Truncate(stage.Tick), message.Minor)
			at += 2 * upgradeGap
			failed++
		}
		if s.Rand.Chance(1, 2) { // an owner dies, of whichever version
			group := s.Gates
			if s.Rand.Chance(1, 2) {
				group = s.Managers
			}
			s.Fault(sim.Fault{At: (at - upgradeGap/2).Truncate(stage.Tick), For: restartFor, Kind: sim.FaultCrash, Nodes: stage.Names(s.Choose(group, 1))})
		}
	}
	s.Draw("the last node is upgraded at %v", at)
	a.order(8*time.Second, s.Options.Virtual-20*time.Second)
}

func buildRollingDowngrade(s *cluster.Cluster) {
	a := begin(s, message.Minor)
	at := 10 * time.Second
	all := a.shuffled()
	for _, minor := range []uint16{0, message.Minor} {
		for _, id := range all[:3+s.Rand.Int(3)] {
			a.restart(id, at.Truncate(stage.Tick), minor)
			at += upgradeGap
		}
	}
	for _, id := range all { // those that are still old
		s.World.At(at.Truncate(stage.Tick), func() {
			if a.of[id] < message.Minor {
				a.of[id] = message.Minor
				s.World.Restart(id, sim.KeepDisk)
			}
		})
		at += time.Second
	}
	a.order(at+5*time.Second, at+30*time.Second)
	back := at + 35*time.Second
	gone := []node.ID{s.Choose(s.Gates, 1)[0], s.Choose(s.Managers, 1)[0]}
	for _, id := range gone {
		a.restart(id, back.Truncate(stage.Tick), 0)
		a.restart(id, (back + 25*time.Second).Truncate(stage.Tick), message.Minor)
	}
	s.Draw("%v go back at %v, after the level", gone, back)
	a.late = func(id node.ID) bool { return slices.Contains(gone, id) }
	a.order(back+40*time.Second, s.Options.Virtual-20*time.Second)
}

// groupOf returns the members of a group.
func (a *ages) groupOf(group string) []node.ID {
	if group == checker.GroupGates {
		return a.s.Gates
	}
	return a.s.Managers
}

// agreed is the level that a majority of a group has on disk. The member that takes it first may hear one
// that goes down at this moment, and comes back in an older version: that one takes part until a
// majority has the level.
func (a *ages) agreed(group string) uint16 {
	all := a.groupOf(group)
	var have []uint16
	for _, id := range all {
		have = append(have, a.disk[id])
	}
	slices.Sort(have)
	return have[len(have)-1-len(have)/2]
}

func (a *ages) judge(r checker.Record) {
	switch e := r.Event.(type) {
	case event.GroupLevel:
		a.disk[r.Node] = max(a.disk[r.Node], e.Level)
		if at := a.agreed(e.Group); at > a.level[e.Group] {
			a.level[e.Group] = at
		}
		if a.first[e.Group] < e.Level {
			a.first[e.Group] = e.Level
			for _, id := range a.groupOf(e.Group) {
				if a.of[id] < e.Level {
					a.s.Checker.Violate("V", r, "%s of %s has level %d, and %s is of version 1.%d", r.Node, e.Group, e.Level, id, a.of[id])
				}
			}
		}
	case event.GroupJoined:
		if at := a.level[e.Group]; a.of[r.Node] < at {
			a.s.Checker.Violate("V", r, "%s of version 1.%d is a member of %s, which has level %d", r.Node, a.of[r.Node], e.Group, at)
		}
	case event.LeaseGranted:
		if at := a.level[e.Group]; a.of[r.Node] < at {
			a.s.Checker.Violate("V", r, "%s of version 1.%d owns job %v, and %s has level %d", r.Node, a.of[r.Node], e.Job, e.Group, at)
		}
	case event.GroupAlarm:
		if strings.Contains(e.Reason, "start version 1.1 or newer") && !e.Speaks {
			a.refused[r.Node] = true
		}
	}
}

// finish judges that each group has the level, and that each node that went back after it said why it
// takes no part.
func (a *ages) finish() {
	for _, group := range []string{checker.GroupGates, stage.Datacenter(0)} {
		if a.level[group] != message.Minor {
			a.s.Checker.Violate("V", a.s.Record(a.groupOf(group)[0]), "%s has level %d in the end", group, a.level[group])
		}
	}
	for _, id := range slices.Concat(a.s.Gates, a.s.Managers) {
		if a.late != nil && a.late(id) && !a.refused[id] {
			a.s.Checker.Violate("V", a.s.Record(id), "%s went back after the level, and did not say which version to start", id)
		}
	}
}
