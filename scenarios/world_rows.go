package scenarios

import (
	"time"

	"hyperscale/checker"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/sim"
)

func rowWorlds() []Scenario {
	return []Scenario{
		{Name: "unique-rows", Virtual: 4 * time.Minute, build: onCluster(buildUniqueRows),
			Doc: "The iterations of each job take rows of which none is to be used twice, in one datacenter or cut for two, while managers are cut off from their fellows, or killed when they write what they lease, workers are killed and cut off, and streams break. No row is handed to two executors; what a lost attempt held is burned, and told."},
		{Name: "rows-in-peace", Virtual: 170 * time.Second, build: onCluster(buildRowsInPeace),
			Doc: "The same where nothing goes wrong. All rows are handed out, and none is burned."},
		{Name: "bound-rows", Virtual: 5 * time.Minute, build: onCluster(buildBoundRows),
			Doc: "Jobs that name no datacenter take rows of which none is to be used twice, and then one of the two datacenters is cut off from all gates for longer than it may go on. Nobody knows which rows were taken there: none of them is handed out in the other one."},
	}
}

// rowsOf gives each job a unique feed; every third one names two datacenters.
func (s *cluster) rowsOf(rows uint64) {
	s.model.Want, s.model.Asks = 400, 500*time.Millisecond
	for i, o := range s.orders {
		for k := range o.plan.Workflows {
			o.plan.Workflows[k].Feed = message.FeedPlan{Name: "people.csv", Rows: rows, Unique: true, Order: message.RowsShuffled, AtEnd: message.RowsStop}
		}
		if i%3 == 0 {
			o.submit.Datacenters = []string{datacenter(0), datacenter(1)}
		}
		o.judge = func(r *message.Result) {
			for _, w := range r.Workflows {
				if sum := w.Stats.Rows + w.Burned; sum > rows {
					s.checker.Violate("F", s.record(o.client), "job %v took %d rows and burned %d, of %d", o.job, w.Stats.Rows, w.Burned, rows)
				}
			}
		}
	}
}

func buildUniqueRows(s *cluster) {
	t := groupTopology()
	t.datacenters, t.clients = 2, 2
	s.standard(t, func(l *load) { l.every, l.duration, l.cores, l.layers = 4*time.Second, 10*time.Second, 3, false })
	s.rowsOf(20_000)
	s.often(append(append([]node.ID{}, s.managers...), s.workers...), 5*time.Second, sim.FaultBreakStreams, 0, 0)
	aims := []string{"", "storing:lease/", "stored:lease/"}
	s.slots(7*time.Second, func(i int, at time.Duration) {
		f := sim.Fault{At: at, For: s.rand.Duration(time.Second, 6*time.Second).Truncate(tick), Kind: sim.FaultCrash}
		switch i % 4 {
		case 0: // its workers hear it, its fellows do not: what it leases no majority knows
			lone := s.choose(s.managers, 1)
			f.Kind, f.Nodes, f.Peers = sim.FaultPartition, names(lone), names(without(s.managers, lone...))
		case 1, 2:
			f.Nodes, f.Aim = names(s.choose(s.managers, 1)), aims[s.rand.Int(len(aims))]
		default:
			f.Nodes = names(s.choose(s.workers, 1))
			if s.rand.Chance(1, 2) {
				f.Kind, f.Peers, f.For = sim.FaultPartition, names(s.managers), 12*time.Second
			}
		}
		s.fault(f)
	})
	if s.rand.Chance(1, 2) { // answers are late, and come twice
		s.fault(sim.Fault{At: 5 * time.Second, Kind: sim.FaultLatencyOneWay, Nodes: names(s.managers), Peers: names(s.workers), Value: int64(700 + s.rand.Int(900))})
	}
}

func buildRowsInPeace(s *cluster) {
	t := groupTopology()
	t.datacenters, t.clients = 2, 2
	s.standard(t, func(l *load) { l.every, l.duration, l.cores, l.layers = 6*time.Second, 30*time.Second, 2, false })
	const rows = 5000
	s.rowsOf(rows)
	s.complete = true
	s.checker.Promise(checker.Promises{Once: true})
	for _, o := range s.orders {
		judge := o.judge
		o.judge = func(r *message.Result) {
			judge(r)
			for _, w := range r.Workflows {
				if w.Stats.Rows != rows || w.Burned != 0 {
					s.checker.Violate("P", s.record(o.client), "job %v took %d of its %d rows, and burned %d", o.job, w.Stats.Rows, rows, w.Burned)
				}
			}
		}
	}
}

func buildBoundRows(s *cluster) {
	t := groupTopology()
	t.datacenters, t.clients = 2, 2
	s.standard(t, func(l *load) { l.every, l.duration, l.cores, l.layers = 15*time.Second, 30*time.Second, 2, false })
	s.rowsOf(50_000)
	for _, o := range s.orders {
		o.submit.Datacenters = nil
	}
	s.model.Want = 50
	d := s.rand.Int(t.datacenters)
	var cut []node.ID
	for _, id := range append(append([]node.ID{}, s.managers...), s.workers...) {
		if s.world.Place(id) == datacenter(d) {
			cut = append(cut, id)
		}
	}
	s.fault(sim.Fault{At: 20 * time.Second, For: 90 * time.Second, Kind: sim.FaultPartition, Nodes: names(cut), Peers: names(s.gates)})
}
