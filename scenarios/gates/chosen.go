package gates

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// chosenWorlds are about datacenters that gates choose for jobs.
func chosenWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "count-of-three", Virtual: 4 * time.Minute, Build: cluster.On(buildCountOfThree),
			Doc: "Jobs with unique rows ask for three of five datacenters, and prefer one, while gates crash, managers refuse and datacenters are cut off. A gate chooses the three once: no take-over and no return to the queue changes them, and no row is dealt twice."},
		{Name: "flapping-datacenter", Virtual: 8 * time.Minute, Build: cluster.On(buildFlappingDatacenter),
			Doc: "The cores of two datacenters are free and in use in turns of seconds, then those of one of them are in use for more than a minute, then those of the other one. No gate changes its favourite while they flap, nor twice within a minute. Each changes it when the other one has long had more free cores."},
	}
}

const (
	flapFrom  = 4 * time.Second
	flapUntil = 80 * time.Second // then the load lasts
	lastsFor  = 75 * time.Second
)

func buildFlappingDatacenter(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Datacenters, t.Workers = 2, 2
	s.Build(t)
	for i, id := range s.Gates { // one datacenter is as far from each gate as the other one
		s.Fault(sim.Fault{At: stage.Tick, Kind: sim.FaultLatency, Nodes: []string{string(id)}, Peers: s.OfDatacenter(i % t.Datacenters), Value: 20})
	}
	n := 0
	submit := func(at time.Duration, place string, l cluster.Load) {
		n++
		o := &cluster.Order{Key: fmt.Sprintf("flap-%d", n), Client: s.Clients[n%len(s.Clients)]}
		m := s.Submission(o, l, n)
		if place != "" {
			m.Datacenters = []string{place}
		}
		s.Orders = append(s.Orders, o)
		s.World.At(at, func() { s.Submit(o, m, 0) })
	}
	all := cluster.Load{Vus: 16, Cores: uint32(t.Workers * t.Cores), Duration: 1500 * time.Millisecond}
	for at := flapFrom; at < flapUntil-4*time.Second; at += 5 * time.Second {
		submit(at, stage.Datacenter(0), all)
		submit(at+2500*time.Millisecond, stage.Datacenter(1), all)
	}
	all.Duration = lastsFor
	submit(flapUntil, stage.Datacenter(0), all)
	submit(flapUntil+lastsFor+5*time.Second, stage.Datacenter(1), all)
	for at := 6 * time.Second; at < flapUntil+2*lastsFor; at += 7 * time.Second {
		submit(at, "", cluster.Load{Vus: 4, Cores: 1, Duration: time.Second})
	}
	changed := map[node.ID]time.Duration{}
	s.Witness = append(s.Witness, func(r checker.Record) {
		e, ok := r.Event.(event.DatacenterFavoured)
		if !ok || r.At < flapFrom {
			return // workers register, one after the other
		}
		if was, before := changed[r.Node]; r.At < flapUntil || before && r.At-was < time.Minute-time.Second {
			s.Checker.Violate("P", r, "%s favours %s instead of %s, and changed at %v before: %s", r.Node, e.Datacenter, e.Former, was, e.Why)
		}
		changed[r.Node] = r.At
	})
	s.Verdicts = append(s.Verdicts, func() {
		for _, id := range s.Gates {
			if _, ok := changed[id]; !ok {
				s.Checker.Violate("P", s.Record(id), "%s favours one datacenter for ever, and each had no free core for %v", id, lastsFor)
			}
		}
	})
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
