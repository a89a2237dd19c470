package scenarios

import (
	"cmp"
	"fmt"
	"time"

	"hyperscale/checker"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/netsim"
	"hyperscale/sim"
)

// stage is one world being played.
type stage struct {
	options Options
	world   *sim.World
	checker *checker.Checker
	rand    *node.Rand // of what the scenario itself draws

	nodes  []node.ID
	groups [][]node.ID // sets of nodes whose majorities decide
	core   []node.ID   // the nodes that are healed; empty: all

	witness  []func(checker.Record) // what this world looks at besides
	ends     []func()               // what it judges of any run that was not cut
	verdicts []func()               // and at the end of a whole run

	faults []sim.Fault
	draws  []string
	within time.Duration   // T11's bound in this world
	heal   time.Duration   // when the last fault is healed; liveness is judged from then on
	bounds []time.Duration // that times of faults are drawn about
	beyond bool            // clocks may drift beyond the bound

	loses  bool          // the world loses what Scenario.ExpectedLoss names
	hot    bool          // some message was repeated at wire speed
	broken time.Duration // when the first violation was seen, but for those at the end
}

func newStage(s Scenario, o Options) *stage {
	c := checker.New()
	st := &stage{
		options: o, checker: c, loses: s.ExpectedLoss != "", rand: node.NewRand(o.Seed, node.ID("scenario "+s.Name), node.PurposeFault),
		within: cmp.Or(s.within, LivenessBound), beyond: s.Beyond, bounds: timeBounds(),
	}
	st.heal = healAt(o.Virtual, st.within)
	network := netsim.Default
	if s.network != nil {
		network = s.network
	}
	st.world = sim.New(sim.Config{
		Seed: o.Seed, Wire: o.Wire, Network: network(), Observer: tee{st, o.Observer}, Beyond: s.Beyond,
		RateMax: cmp.Or(s.rate, rateMax), Flooded: st.flooded,
	})
	c.Assume(checker.Assumptions{
		DriftBeyondBound: s.Beyond, DriftPPM: sim.DriftBound, Clock: st.clock,
		Sends:       func(worker node.ID, s message.ShardID, _ message.Fence) bool { return st.world.Executes(worker, s) },
		Paused:      st.world.Paused,
		NeverHealed: st.neverHealed,
	})
	st.world.At(sizesEvery, st.sizes)
	return st
}

// sizesEvery is how often machines are asked what they keep.
const sizesEvery = 3 * time.Second

// sizes has T12 judged, now and every few seconds.
func (s *stage) sizes() {
	before := s.checker.Broken()
	s.world.Sizes(func(id node.ID, what string, n, bound int) { s.checker.Size(s.world.Now(), id, what, n, bound) })
	if s.broken == 0 && s.checker.Broken() > before {
		s.broken = s.world.Now()
	}
	s.world.At(s.world.Now()+sizesEvery, s.sizes)
}

// rateMax is how many messages of one kind a node may handle in a second. What waits
// for timers stays far below; what answers answers at once goes far beyond.
const rateMax = 1500

// flooded: somebody repeats what it says at wire speed.
func (s *stage) flooded(id node.ID, k node.Kind) {
	if s.hot {
		return
	}
	s.hot = true
	s.checker.Violate("P", s.record(id), "%s was sent too many messages %s within a second, as by something that repeats itself at wire speed", id, message.Name(k))
	if s.broken == 0 {
		s.broken = s.world.Now()
	}
}

// clock reads the clock of an incarnation; false: it is over.
func (s *stage) clock(id node.ID, incarnation uint64) (node.Instant, bool) {
	now, runs, ok := s.world.Clock(id)
	return now, ok && runs == incarnation
}

// local is what a node's clock reads; zero for one that ends just now.
func (s *stage) local(id node.ID) node.Instant {
	now, _, _ := s.world.Clock(id)
	return now
}

// healAt leaves the bound of liveness after the faults, or a third of a run that
// is too short to judge liveness at all: three minutes are not.
func healAt(virtual, within time.Duration) time.Duration {
	if heal := virtual - within - 10*time.Second; heal >= virtual/4 {
		return heal
	}
	return virtual * 2 / 3
}

// draw records what the scenario decided, for people.
func (s *stage) draw(format string, args ...any) {
	s.draws = append(s.draws, fmt.Sprintf(format, args...))
}

// fault schedules one; a replay plays its recorded ones instead. A run that is too
// short for a fault is played without it.
func (s *stage) fault(f sim.Fault) {
	if s.options.Faults == nil && f.At >= 0 && f.For >= 0 {
		s.faults = append(s.faults, f)
	}
}

// brief draws how long a crash lasts: never for no time, as a fault of no length lasts
// until the world heals.
func (s *stage) brief(longest time.Duration) time.Duration {
	return max(time.Millisecond, s.rand.Duration(0, longest).Truncate(time.Millisecond))
}

// play runs to the end: faults, healing, and what follows.
func (s *stage) play() {
	if s.options.Faults != nil {
		s.faults = s.options.Faults
	}
	if err := s.world.Schedule(s.faults); err != nil {
		node.Bug("scenario drew an impossible fault: %v", err)
	}
	s.world.At(s.heal, s.world.Heal)
	if s.cutShort() {
		s.checker.Settle()
		return
	}
	for _, judge := range s.ends {
		judge()
	}
	if s.options.Virtual-s.heal < s.within {
		s.checker.Settle() // what was true all the time is judged all the same
		return
	}
	s.checker.Finish(s.world.Now(), s.within)
	for _, judge := range s.verdicts {
		judge()
	}
	if !s.loses {
		s.rest()
	}
}

// cutShort lets the world run and says whether it has ended before its time.
func (s *stage) cutShort() bool {
	end, cut := s.options.Virtual, false
	if u := s.options.Until; u > 0 && u < end {
		end, cut = u, true
	}
	if !s.options.First {
		s.world.RunUntil(end)
		return cut
	}
	for s.world.Step(end) {
		if s.broken > 0 {
			return true
		}
	}
	s.world.RunUntil(end) // where there was nothing left to do
	return cut
}
