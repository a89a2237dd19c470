package membership

import (
	"math/rand/v2"
	"slices"
	"time"
)

// The experiment: members join, then packets are lost, some members pause again
// and again, and one crashes.
const (
	members   = 100
	paused    = 4
	loss      = 0.1
	delayMin  = 200 * time.Microsecond
	delayMax  = 2 * time.Millisecond
	settled   = 20 * time.Second // loss and pauses begin
	crashes   = 40 * time.Second
	ends      = 110 * time.Second
	pauseMin  = 2 * time.Second
	pauseMax  = 16 * time.Second
	awakeMin  = time.Second
	awakeMax  = 4 * time.Second
	pausesEnd = 80 * time.Second
)

// pause is one stretch in which a member stands still.
type pause struct {
	member int
	from   time.Duration
	to     time.Duration
}

// plan is what a seed draws; both sides play it.
type plan struct {
	seed    uint64
	crashed int
	tired   []int // the members that pause
	pauses  []pause
}

func draw(seed uint64) plan {
	r := rand.New(rand.NewPCG(seed, 7))
	order := r.Perm(members - 1) // the last one is everybody's seed and stays well
	p := plan{seed: seed, crashed: order[0], tired: order[1 : 1+paused]}
	between := func(low, high time.Duration) time.Duration { return low + time.Duration(r.Int64N(int64(high-low))) }
	for _, m := range p.tired {
		for t := settled + between(0, awakeMax); t < pausesEnd; {
			d := between(pauseMin, pauseMax)
			p.pauses = append(p.pauses, pause{m, t, t + d})
			t += d + between(awakeMin, awakeMax)
		}
	}
	return p
}

// death is one member's belief that another has died.
type death struct {
	at        time.Duration
	by, about int
}

// outcome is what one run of one side came to.
type outcome struct {
	FalseAll     int           // deaths told of members that live and do not pause, at all members
	FalseHealthy int           // the same, told at members that do not pause
	First        time.Duration // from the crash to the first who knows
	Full         time.Duration // to the last of those that live and do not pause; zero: not all ever knew
	Bytes        float64       // sent by a member in a second
	Probes       int           // datagrams of ours, of this kind
	Gossip       int
}

// judge makes figures of deaths.
func (p plan) judge(deaths []death, bytes uint64) outcome {
	o := outcome{Bytes: float64(bytes) / members / (ends - settled).Seconds()}
	knows := map[int]bool{}
	for _, d := range deaths {
		// The peer's crashed member runs on without a network: its beliefs count nowhere.
		if d.at < settled || d.at >= ends || d.by == p.crashed && d.at >= crashes {
			continue
		}
		if d.about == p.crashed {
			if d.at < crashes || knows[d.by] || slices.Contains(p.tired, d.by) {
				continue
			}
			knows[d.by] = true
			if o.First == 0 {
				o.First = d.at - crashes
			}
			if len(knows) == members-paused-1 {
				o.Full = d.at - crashes
			}
			continue
		}
		if slices.Contains(p.tired, d.about) {
			continue
		}
		o.FalseAll++
		if !slices.Contains(p.tired, d.by) {
			o.FalseHealthy++
		}
	}
	return o
}
