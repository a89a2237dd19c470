package gates

import (
	"time"

	"hyperscale/core/node"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// memberWorlds are about sets that change while jobs run.
func memberWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "gates-replaced", Virtual: 7 * time.Minute, Build: cluster.On(buildGatesReplaced),
			Doc: "An operator gives the seat of each gate in turn to a new node with an empty disk, while jobs run and gates and links fail. Each one is dead or stopped before, and many return afterwards, in the belief that they have a seat. No two sets act, no acknowledged job or file is lost, and managers and clients follow."},
		{Name: "managers-replaced", Virtual: 7 * time.Minute, Build: cluster.On(buildManagersReplaced),
			Doc: "An operator gives the seat of each manager of a datacenter in turn to a new node, while jobs run and managers fail. The old ones are dead or stopped before, and many return. Their subjobs go on under another manager, workers follow, and nothing runs twice."},
	}
}

func buildGatesReplaced(s *cluster.Cluster) {
	x := buildReplaced(s)
	x.ReplaceGates(len(s.Gates), 15*time.Second, changeGap(s))
	failing(s, x.AllGates())
}

func buildManagersReplaced(s *cluster.Cluster) {
	x := buildReplaced(s)
	x.ReplaceManagers(len(s.Managers), 15*time.Second, changeGap(s))
	failing(s, x.AllManagers())
}

func buildReplaced(s *cluster.Cluster) *cluster.Spares {
	t := cluster.GroupTopology()
	s.Standard(t, func(l *cluster.Load) { l.Duration, l.Every, l.Cores, l.Layers = 15*time.Second, 8*time.Second, 1, true })
	s.Complete, s.Served = true, true
	return cluster.NewSpares(s, t.Gates)
}

// changeGap draws from impatient to patient operators: the members themselves say when they can bear
// the next change.
func changeGap(s *cluster.Cluster) func() time.Duration {
	return func() time.Duration { return s.Rand.Duration(time.Second, 40*time.Second) }
}

// failing gives crashes, pauses and cuts to one node at a time, often in the middle of a write.
func failing(s *cluster.Cluster, ids []node.ID) {
	aims := []string{"stored:lease/", "storing:lease/", "", ""}
	s.Slots(12*time.Second, func(_ int, at time.Duration) {
		f := sim.Fault{At: at, For: s.Rand.Duration(time.Second, 4*time.Second).Truncate(stage.Tick), Kind: sim.FaultCrash, Nodes: stage.Names(s.Choose(ids, 1)), Aim: aims[s.Rand.Int(len(aims))]}
		switch s.Rand.Int(4) {
		case 0:
			f.Kind = sim.FaultPause
		case 1:
			f.Kind, f.Aim = sim.FaultPartition, ""
		}
		s.Fault(f)
	})
}
