package scenarios

import (
	"slices"
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/gate"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/scenarios/stage"
	"hyperscale/scenarios/voters"
	"hyperscale/sim"
)

// Took is one duration that a run measured, in virtual time.
type Took struct {
	Bar  string
	Time time.Duration
	// Never means that the event did not happen before the run ended.
	Never bool
}

// Bar is the bound for measurements of one kind.
type Bar struct {
	Name     string // of the kind: "gate-dies"
	What     string
	Quantile int // in hundredths: 99
	Most     time.Duration
}

// Bars returns the bounds that Measure has measurements for.
func Bars() []Bar {
	lease := gate.Default().Lease
	return []Bar{
		{"gate-dies", "a dead gate's job owned again", 99, lease + lease/100 + 2*time.Second},
		{"gate-drains", "a drained gate's job owned again", 99, 3 * time.Second},
		{"dead-worker", "a dead worker's shard running again", 99, 12 * time.Second},
		{"manager-adopts", "a dead manager's subjob held again", 99, 5 * time.Second},
		{"leader-lost", "a lost leader's successor elected", 99, voters.ElectionNext},
	}
}

// Measure plays the world of a bar and returns its measurements. A run with a violation has
// none: its figures mean nothing.
func Measure(bar string, seed uint64) ([]Took, stage.Report, error) {
	s, err := Find(bar)
	if err != nil {
		return nil, stage.Report{}, err
	}
	g := gauge{grants: map[registerName][]grantAt{}, ended: map[message.JobID]time.Duration{}, runs: map[shardName][]runAt{}}
	r := s.Run(stage.Options{Seed: seed, History: g.look})
	if r.Outcome != stage.OK {
		return nil, r, nil
	}
	var all []Took
	for _, f := range r.Faults {
		switch {
		case f.At >= r.Healed:
		case bar == "leader-lost":
			all = append(all, g.leaderLost(bar, f.At))
		case len(f.Nodes) != 1:
		case bar == "dead-worker":
			all = append(all, g.workerLost(bar, node.ID(f.Nodes[0]), f.At)...)
		default:
			all = append(all, g.ownerLost(bar, node.ID(f.Nodes[0]), f)...)
		}
	}
	return all, r, nil
}

// registerName is a register of one group.
type registerName struct {
	group string
	job   message.JobID
}

// shardName is a shard in one datacenter.
type shardName struct {
	datacenter string
	shard      message.ShardID
}

type grantAt struct {
	node node.ID
	at   time.Duration
}

type runAt struct {
	node         node.ID
	fence        message.Fence
	began, ended time.Duration // ended is zero while it runs
}

// gauge collects from a history what the measurements need.
type gauge struct {
	order  []registerName
	grants map[registerName][]grantAt
	ended  map[message.JobID]time.Duration // jobs
	shards []shardName
	runs   map[shardName][]runAt
	led    []grantAt // the voters elected, and when
}

func (g *gauge) look(r checker.Record) {
	switch e := r.Event.(type) {
	case event.LeaseGranted:
		name := registerName{e.Group, e.Job}
		if g.grants[name] == nil {
			g.order = append(g.order, name)
		}
		g.grants[name] = append(g.grants[name], grantAt{r.Node, r.At})
	case event.Elected:
		g.led = append(g.led, grantAt{r.Node, r.At})
	case event.JobChanged:
		if _, known := g.ended[e.Job]; e.To.Terminal() && !known {
			g.ended[e.Job] = r.At
		}
	case event.ShardStarted:
		name := shardName{e.Datacenter, e.Shard}
		if g.runs[name] == nil {
			g.shards = append(g.shards, name)
		}
		g.runs[name] = append(g.runs[name], runAt{node: r.Node, fence: e.Fence, began: r.At})
	case event.ShardEnded:
		for _, name := range g.shards {
			if name.shard != e.Shard {
				continue
			}
			for i := range g.runs[name] {
				if x := &g.runs[name][i]; x.node == r.Node && x.fence == e.Fence {
					x.ended = r.At
				}
			}
		}
	}
}

// ownerLost measures until another node owns each register of a lost node, for jobs that
// continued meanwhile.
func (g *gauge) ownerLost(bar string, id node.ID, f sim.Fault) (all []Took) {
	for _, name := range g.order {
		list := g.grants[name]
		at := slices.IndexFunc(list, func(x grantAt) bool { return x.at > f.At })
		if at < 0 {
			at = len(list)
		}
		if at == 0 || list[at-1].node != id {
			continue
		}
		end, over := g.ended[name.job]
		switch {
		case over && end <= f.At+time.Second:
			continue // it no longer needed an owner
		case at < len(list):
			all = append(all, Took{Bar: bar, Time: list[at].at - f.At})
		case !over:
			all = append(all, Took{Bar: bar, Never: true})
		}
	}
	return all
}

// leaderLost measures until a voter is elected after a fault aimed at the leader, which dies in
// its next heartbeat.
func (g *gauge) leaderLost(bar string, aimed time.Duration) Took {
	next := slices.IndexFunc(g.led, func(x grantAt) bool { return x.at > aimed })
	if next < 0 {
		return Took{Bar: bar, Never: true}
	}
	return Took{Bar: bar, Time: g.led[next].at - aimed}
}

// workerLost measures until each shard of a dead worker runs elsewhere.
func (g *gauge) workerLost(bar string, id node.ID, died time.Duration) (all []Took) {
	for _, name := range g.shards {
		list := g.runs[name]
		if !slices.ContainsFunc(list, func(x runAt) bool {
			return x.node == id && x.began < died && (x.ended == 0 || x.ended > died)
		}) {
			continue
		}
		at := slices.IndexFunc(list, func(x runAt) bool { return x.began > died })
		end, over := g.ended[name.shard.Job]
		switch {
		case at >= 0:
			all = append(all, Took{Bar: bar, Time: list[at].began - died})
		case !over || end > died+stage.LivenessBound:
			all = append(all, Took{Bar: bar, Never: true})
		}
	}
	return all
}
