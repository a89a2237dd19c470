package gates

import (
	"slices"
	"strings"
	"time"

	"hyperscale/core/message"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// chosenWorlds are about datacenters that gates choose for jobs.
func chosenWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "count-of-three", Virtual: 4 * time.Minute, Build: cluster.On(buildCountOfThree),
			Doc: "Jobs with unique rows ask for three of five datacenters, and prefer one, while gates crash, managers refuse and datacenters are cut off. A gate chooses the three once: no take-over and no return to the queue changes them, and no row is dealt twice."},
	}
}

const countOf = 3

func buildCountOfThree(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Datacenters, t.Managers, t.Workers, t.Clients = 5, 1, 2, 3
	s.Standard(t, func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Layers = 3*time.Second, 5*time.Second, 2, false
	})
	s.Model.Want, s.Model.Asks = 400, 500*time.Millisecond
	sets := map[message.JobID]string{}
	for i, o := range s.Orders {
		o.Submit.Count = countOf
		if i%2 == 0 {
			o.Submit.Preferred = []string{stage.Datacenter(i % t.Datacenters)}
		}
		for k := range o.Plan.Workflows {
			o.Plan.Workflows[k].Feed = message.FeedPlan{Name: "people.csv", Rows: 20_000, Unique: true, Order: message.RowsShuffled, AtEnd: message.RowsStop}
		}
		o.Judge = func(r *message.Result) { sameSet(s, sets, o, r.Datacenters) }
	}
	s.Shown = func(o *cluster.Order, m *message.JobStatus) { sameSet(s, sets, o, m.Datacenters) }
	s.Slots(20*time.Second, func(i int, at time.Duration) {
		f := sim.Fault{At: at, For: s.Rand.Duration(2*time.Second, 12*time.Second).Truncate(stage.Tick), Kind: sim.FaultCrash, Nodes: stage.Names(s.Choose(s.Gates, 1)), Aim: "storing:lease/"}
		if i%3 == 1 {
			f.Nodes, f.Aim = stage.Names(s.Choose(s.Managers, 2)), ""
		}
		s.Fault(f)
	})
	s.Slots(50*time.Second, func(i int, at time.Duration) {
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(2*time.Second, 40*time.Second).Truncate(stage.Tick), Kind: sim.FaultPartition, Nodes: stage.Names(s.Choose(s.Managers, 1)), Peers: stage.Names(s.Gates)})
	})
}

// sameSet judges that a job has subjobs in no datacenter, or in the three of its first dispatch.
func sameSet(s *cluster.Cluster, sets map[message.JobID]string, o *cluster.Order, in []message.DatacenterResult) {
	if len(in) == 0 {
		return
	}
	var names []string
	for i := range in {
		names = append(names, in[i].Name)
	}
	slices.Sort(names)
	set := strings.Join(names, ",")
	if was, known := sets[o.Job]; known && was != set {
		s.Checker.Violate("P", s.Record(o.Client), "job %v was in %s, and now is in %s", o.Job, was, set)
	}
	if len(slices.Compact(names)) != countOf {
		s.Checker.Violate("P", s.Record(o.Client), "job %v asked for %d datacenters, and is in %s", o.Job, countOf, set)
	}
	sets[o.Job] = set
}
