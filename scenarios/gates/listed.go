package gates

import (
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// listedWorlds are about lists of jobs, which clients merge from what each gate knows.
func listedWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "listed-jobs", Virtual: 4 * time.Minute, Build: cluster.On(buildListedJobs),
			Doc: "Clients list the jobs of five gates while gates crash, are cut off and lose their streams, at most three at a time. If a majority answers, the list contains each acknowledged job, whichever gate owns it. A job whose end a client saw before it asked is listed as ended. Once the world has healed, all gates are in the list."},
	}
}

// lists judges the merged lists that clients get.
type lists struct {
	s          *cluster.Cluster
	whole, cut int // lists of all gates, and of some
}

func buildListedJobs(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Gates, t.Clients = 5, 3
	s.Standard(t, func(l *cluster.Load) { l.Every, l.Duration, l.Cores = 2*time.Second, 8*time.Second, 2 })
	w := &lists{s: s}
	s.Slots(12*time.Second, func(i int, at time.Duration) {
		kinds := []string{sim.FaultCrash, sim.FaultPartition, sim.FaultPause}
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(3*time.Second, 11*time.Second).Truncate(stage.Tick), Kind: kinds[s.Rand.Int(len(kinds))],
			Nodes: stage.Names(s.Choose(s.Gates, 1+s.Rand.Int(3)))})
	})
	s.Often(s.Gates, 9*time.Second, sim.FaultBreakStreams, 0, 0)
	for at := 4 * time.Second; at < s.Heal; at += s.Rand.Duration(time.Second, 4*time.Second) {
		who := s.Clients[s.Rand.Int(len(s.Clients))]
		s.World.At(at, func() { w.ask(who, false) })
	}
	s.World.At(s.Heal+30*time.Second, func() { w.ask(s.Clients[0], true) })
	s.Ends = append(s.Ends, func() {
		if w.whole == 0 || w.cut == 0 {
			s.Checker.Violate("P", s.Record(s.Clients[0]), "%d lists were of all gates, and %d of some: this world is to have both", w.whole, w.cut)
		}
	})
}

// ask lists the jobs, and judges the list by what clients knew when they asked.
func (w *lists) ask(who node.ID, healed bool) {
	acked, ended := map[message.JobID]bool{}, map[message.JobID]bool{}
	for _, o := range w.s.Orders {
		if o.Acked {
			acked[o.Job], ended[o.Job] = true, o.Shown.Terminal()
		}
	}
	w.s.World.Command(who, &message.JobListQuery{}, func(answer node.Message) {
		list, ok := answer.(*message.JobList)
		if !ok {
			if healed {
				w.s.Checker.Violate("P", w.s.Record(who), "the world has healed, and no gate lists its jobs: %+v", answer)
			}
			return
		}
		there := 0
		for _, g := range list.Gates {
			if g.Why == "" {
				there++
			}
		}
		if there == len(w.s.Gates) {
			w.whole++
		} else if w.cut++; healed {
			w.s.Checker.Violate("P", w.s.Record(who), "the world has healed, and %d of %d gates are in the list: %+v", there, len(w.s.Gates), list.Gates)
		}
		if 2*there > len(w.s.Gates) {
			w.judge(who, list, acked, ended)
		}
	})
}

func (w *lists) judge(who node.ID, list *message.JobList, acked, ended map[message.JobID]bool) {
	for i := range list.Jobs {
		j := &list.Jobs[i]
		if ended[j.Job] && !j.State.Terminal() {
			w.s.Checker.Violate("P", w.s.Record(who), "job %v has ended, and is listed as %v", j.Job, j.State)
		}
		if j.Source == message.SourceEnd && !j.State.Terminal() {
			w.s.Checker.Violate("P", w.s.Record(who), "job %v is listed as ended, and as %v", j.Job, j.State)
		}
		delete(acked, j.Job)
	}
	if len(acked) > 0 {
		w.s.Checker.Violate("P", w.s.Record(who), "%d acknowledged jobs are in no list, and a majority of gates answered: %v", len(acked), list.Gates)
	}
}
