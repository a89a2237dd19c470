package lifeguard

import (
	"fmt"
	"time"

	"hyperscale/core/node"
	"hyperscale/core/swim"
	"hyperscale/netsim"
	"hyperscale/sim"
)

// Outcome is the result of one run.
type Outcome struct {
	FP        uint64 // verdicts against members that were never blocked
	FPHealthy uint64 // those of them by members that were never blocked
	Messages  uint64
	Bytes     uint64
	Virtual   time.Duration
	// First and Full are the times from the beginning of a long block until the first and until
	// the last healthy member's verdict.
	First, Full []time.Duration
	Missed      int // long blocks that not all healthy members detected in time
}

// detectAt is the shortest block that counts as a true failure: longer than any setting needs
// to detect and gossip one.
const detectAt = 30 * time.Second

// run is one run.
type run struct {
	anomaly Anomaly
	world   *sim.World
	ids     map[node.ID]int
	blocked []bool
	deaths  []map[int]time.Duration // by blocked member: which members declared it dead, and when
	outcome Outcome
}

// play plays one anomaly in one setting.
func play(seed uint64, members int, setting *Setting, a Anomaly) Outcome {
	r := crowd(seed, members, setting, a)
	r.outcome.Virtual = anomalyAt + a.D + settleFor
	if a.Kind == Interval {
		r.outcome.Virtual = anomalyAt + intervalFor + settleFor
	}
	r.world.RunUntil(r.outcome.Virtual)
	r.times(members - a.C)
	return r.outcome
}

// crowd returns a world whose members have just started. The seed and the anomaly alone decide
// which of them will be blocked.
func crowd(seed uint64, members int, setting *Setting, a Anomaly) *run {
	worldSeed := node.MixString(seed, a.String())
	w := sim.New(sim.Config{Seed: worldSeed, Network: netsim.Default()})
	r := &run{anomaly: a, world: w, ids: map[node.ID]int{}, blocked: make([]bool, members), deaths: make([]map[int]time.Duration, members)}
	rand := node.NewRand(worldSeed, "anomaly", node.PurposeFault)
	for n := 0; n < a.C; {
		if i := rand.Int(members); !r.blocked[i] {
			r.blocked[i], r.deaths[i] = true, map[int]time.Duration{}
			n++
		}
	}
	config := setting.Config
	config.Group = "lifeguard"
	var roster []*swim.Identity
	for i := range members {
		id := node.ID(fmt.Sprintf("member-%03d", i))
		r.ids[id] = i
		w.Add(sim.Spec{ID: id, Role: node.RoleToy, Place: "dc", New: func() node.Machine {
			config.Seeds, config.Known = []node.Addr{roster[0].Addr, roster[1].Addr, roster[2].Addr}, roster
			return &member{run: r, index: i, group: swim.New(config)}
		}})
		roster = append(roster, &swim.Identity{ID: id, Addr: w.Addr(id), Role: node.RoleToy})
	}
	for i := range members {
		w.Start(roster[i].ID)
	}
	return r
}

// dies counts a verdict.
func (r *run) dies(at int, id node.ID) {
	i := r.ids[id]
	switch {
	case !r.blocked[i]:
		r.outcome.FP++
		if !r.blocked[at] {
			r.outcome.FPHealthy++
		}
	case !r.blocked[at]:
		if _, told := r.deaths[i][at]; !told {
			r.deaths[i][at] = r.world.Now() - anomalyAt
		}
	}
}

// times collects how soon members knew of true failures.
func (r *run) times(healthy int) {
	if r.anomaly.Kind != Threshold || r.anomaly.D < detectAt {
		return
	}
	for i, blocked := range r.blocked {
		if !blocked {
			continue
		}
		first, last := r.anomaly.D, time.Duration(0)
		//lint:orderfree the least and the most of all
		for _, at := range r.deaths[i] {
			first, last = min(first, at), max(last, at)
		}
		if len(r.deaths[i]) > 0 {
			r.outcome.First = append(r.outcome.First, first)
		}
		if len(r.deaths[i]) == healthy && last <= r.anomaly.D {
			r.outcome.Full = append(r.outcome.Full, last)
		} else {
			r.outcome.Missed++
		}
	}
}
