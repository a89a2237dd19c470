package stage

import (
	"cmp"
	"fmt"
	"math/bits"
	"time"

	"hyperscale/checker"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/netsim"
	"hyperscale/sim"
)

// Stage is one world while it runs.
type Stage struct {
	Options Options
	World   *sim.World
	Checker *checker.Checker
	Rand    *node.Rand // for the scenario's own draws

	Nodes  []node.ID
	Groups [][]node.ID // sets of nodes whose majorities decide
	Core   []node.ID   // the nodes that heal; empty: all

	Witness  []func(checker.Record) // what this world observes besides
	Ends     []func()               // what it judges of any run that was not cut
	Verdicts []func()               // what it judges at the end of a whole run

	Faults []sim.Fault
	draws  []string
	Within time.Duration   // T11's bound in this world
	Heal   time.Duration   // when the last fault heals; liveness is judged from then on
	Bounds []time.Duration // spans around which the times of faults are drawn
	Beyond bool            // clocks may drift beyond the bound

	loses  bool          // the world loses what Scenario.ExpectedLoss names
	hot    bool          // a node repeated a message at wire speed
	broken time.Duration // when the first violation showed, except those at the end
}

// New returns the stage of a run, without any node yet.
func New(s Scenario, o Options) *Stage {
	c := checker.New()
	st := &Stage{
		Options: o, Checker: c, loses: s.ExpectedLoss != "", Rand: node.NewRand(o.Seed, node.ID("scenario "+s.Name), node.PurposeFault),
		Within: cmp.Or(s.Within, LivenessBound), Beyond: s.Beyond, Bounds: timeBounds(),
	}
	st.Heal = healAt(o.Virtual, st.Within)
	network := netsim.Default
	if s.Network != nil {
		network = s.Network
	}
	st.World = sim.New(sim.Config{
		Seed: o.Seed, Wire: o.Wire, Network: network(), Observer: tee{st, o.Observer}, Beyond: s.Beyond,
		RateMax: max(cmp.Or(s.Rate, rateMax), crowdRate*o.Crowd), Flooded: st.flooded,
		LaborMax: laborMax(o.Crowd), Labored: st.labored,
	})
	c.Assume(checker.Assumptions{
		DriftBeyondBound: s.Beyond, DriftPPM: sim.DriftBound, Clock: st.clock,
		Sends:       func(worker node.ID, s message.ShardID, _ message.Fence) bool { return st.World.Executes(worker, s) },
		Paused:      st.World.Paused,
		NeverHealed: st.neverHealed,
	})
	st.World.At(sizesEvery, st.sizes)
	return st
}

// crowdRate is how many messages of one kind a node receives in a second from each of a crowd.
const crowdRate = 4

// sizesEvery is how often the stage asks machines what they hold.
const sizesEvery = 3 * time.Second

// sizes judges T12, now and every few seconds.
func (s *Stage) sizes() {
	before := s.Checker.Broken()
	s.World.Sizes(func(id node.ID, what string, n, bound int) { s.Checker.Size(s.World.Now(), id, what, n, bound) })
	if s.broken == 0 && s.Checker.Broken() > before {
		s.broken = s.World.Now()
	}
	s.World.At(s.World.Now()+sizesEvery, s.sizes)
}

// rateMax bounds the messages of one kind that may reach a node in a second. A protocol that
// waits for timers stays far below; one that answers answers at once goes far beyond.
const rateMax = 1500

// flooded notes that a node repeats a message at wire speed.
func (s *Stage) flooded(id node.ID, k node.Kind) {
	if s.hot {
		return
	}
	s.hot = true
	s.Checker.Violate("P", s.Record(id), "%s was sent too many messages %s within a second, as by something that repeats itself at wire speed", id, message.Name(k))
	if s.broken == 0 {
		s.broken = s.World.Now()
	}
}

// laborMax bounds the time that a node may spend on its whole cluster in one Step. Meanwhile it
// reads no heartbeat and renews no lease. With a thousand workers, quadratic work takes longer. To
// place a shard on each of more workers takes as long as their number times its logarithm.
func laborMax(crowd int) time.Duration {
	return max(2*time.Millisecond, 15*time.Duration(crowd*bits.Len(uint(crowd)))*10*time.Nanosecond)
}

// labored reports a Step that takes longer: all inputs that wait for the node fall behind.
func (s *Stage) labored(id node.ID, took time.Duration) {
	s.Checker.Violate("P", s.Record(id), "%s falls behind: one Step looks at its workers for %v, more than %v", id, took, laborMax(s.Options.Crowd))
	if s.broken == 0 {
		s.broken = s.World.Now()
	}
}

// clock reads the clock of an incarnation; false: it has ended.
func (s *Stage) clock(id node.ID, incarnation uint64) (node.Instant, bool) {
	now, runs, ok := s.World.Clock(id)
	return now, ok && runs == incarnation
}

// Local returns what a node's clock reads; zero for a node that ends now.
func (s *Stage) Local(id node.ID) node.Instant {
	now, _, _ := s.World.Clock(id)
	return now
}

// healAt leaves the bound of liveness after the faults. A run that is too short to judge
// liveness leaves a third: three minutes are too short.
func healAt(virtual, within time.Duration) time.Duration {
	if heal := virtual - within - 10*time.Second; heal >= virtual/4 {
		return heal
	}
	return virtual * 2 / 3
}

// Draw records a decision of the scenario, for readers.
func (s *Stage) Draw(format string, args ...any) {
	s.draws = append(s.draws, fmt.Sprintf(format, args...))
}

// Fault schedules a fault. A replay draws the same ones, as later draws depend on them, and plays
// its recorded ones instead. A run that is too short for a fault plays without it.
func (s *Stage) Fault(f sim.Fault) {
	if f.At >= 0 && f.For >= 0 {
		s.Faults = append(s.Faults, f)
	}
}

// Judge judges at a time what the drawn faults imply. With other faults, in a replay, the world
// cannot say; the instant is scheduled nevertheless, so that a replay of the same faults has the
// same hash.
func (s *Stage) Judge(at time.Duration, f func()) {
	s.World.At(at, func() {
		if s.Options.Faults == nil {
			f()
		}
	})
}

// Brief draws the length of a crash: never zero, because a fault of zero length lasts until the
// world heals.
func (s *Stage) Brief(longest time.Duration) time.Duration {
	return max(time.Millisecond, s.Rand.Duration(0, longest).Truncate(time.Millisecond))
}

// play runs to the end: faults, healing, and what follows.
func (s *Stage) play() {
	if s.Options.Faults != nil {
		s.Faults = s.Options.Faults
	}
	if err := s.World.Schedule(s.Faults); err != nil {
		node.Bug("scenario drew an impossible fault: %v", err)
	}
	s.World.At(s.Heal, s.World.Heal)
	if s.cutShort() {
		s.Checker.Settle()
		return
	}
	for _, judge := range s.Ends {
		judge()
	}
	if s.Options.Virtual-s.Heal < s.Within {
		s.Checker.Settle() // the invariants of safety hold for a cut run, too
		return
	}
	s.Checker.Finish(s.World.Now(), s.Within)
	for _, judge := range s.Verdicts {
		judge()
	}
	if !s.loses {
		s.rest()
	}
}

// cutShort runs the world and reports whether Until has ended it.
func (s *Stage) cutShort() bool {
	end, cut := s.Options.Virtual, false
	if u := s.Options.Until; u > 0 && u < end {
		end, cut = u, true
	}
	if !s.Options.First {
		s.World.RunUntil(end)
		return cut
	}
	for s.World.Step(end) {
		if s.broken > 0 {
			return true
		}
	}
	s.World.RunUntil(end) // also if no event was left
	return cut
}
