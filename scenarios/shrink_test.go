package scenarios

import (
	"bytes"
	"testing"
	"time"

	"hyperscale/checker"
	"hyperscale/sim"
)

// gulled is the canary among faults that have nothing to do with it.
func gulled() Scenario {
	return Scenario{Name: "gulled", Virtual: time.Minute, build: func(s *stage) {
		buildCanary(s)
		for range 40 {
			s.fault(sim.Fault{At: s.drawTime(), For: s.drawLength(time.Minute), Kind: sim.FaultSlowCPU, Value: 3})
			s.fault(sim.Fault{At: s.drawTime(), Kind: sim.FaultBreakStreams, Nodes: []string{"sender"}})
		}
	}}
}

// Of 81 faults the one is left that the failure needs, and the run ends where it
// broke.
func TestShrinkLeavesTheCause(t *testing.T) {
	s := gulled()
	o := Options{Seed: 3}
	r := s.Run(o)
	if r.Outcome != Violation || r.Violations[0].Invariant != "T3" || r.Broken != r.Violations[0].At {
		t.Fatalf("%+v", r)
	}
	small, ok := s.Shrink(o, r, nil, nil)
	if !ok || len(small.Report.Faults) != 1 || small.Report.Faults[0].Kind != sim.FaultLate || small.Report.Cause() != r.Cause() {
		t.Fatalf("%v, after %d plays: %+v", ok, small.Plays, small.Report)
	}
	if small.Report.Virtual != small.Report.Broken || small.Report.Virtual >= r.Virtual {
		t.Errorf("cut at %v of %v, broken at %v", small.Report.Virtual, r.Virtual, small.Report.Broken)
	}
	again := s.Run(small.Options)
	if again.Hash != small.Report.Hash {
		t.Errorf("played again: hash %x, not %x", again.Hash, small.Report.Hash)
	}
	r.Detail = "something else"
	if _, ok := s.Shrink(o, r, nil, nil); ok {
		t.Error("a failure that is not there was made small")
	}
}

// A world that is not at rest yet gets more time than it has: a failure of then is
// played whole, as a schedule can be cut at most at its world's end.
func TestShrinkPlaysALateFailureWhole(t *testing.T) {
	s := gulled()
	build := s.build
	s.build = func(st *stage) {
		build(st)
		st.within = 0 // its end is judged
		st.witness = append(st.witness, func(r checker.Record) {
			if r.At > s.Virtual {
				st.checker.Violate("T12", r, "late")
			}
		})
		st.verdicts = append(st.verdicts, func() { st.world.RunUntil(s.Virtual + 10*time.Second) }) // as rest does
	}
	o := Options{Seed: 3, Faults: []sim.Fault{}}
	r := s.Run(o)
	if r.Outcome != Violation || r.Broken <= s.Virtual {
		t.Fatalf("%v at %v, want a failure after the end at %v", r.Outcome, r.Broken, s.Virtual)
	}
	small, ok := s.Shrink(o, r, nil, nil)
	if !ok || small.Options.Until > s.Virtual {
		t.Errorf("%v: cut at %v, and the world lasts %v", ok, small.Options.Until, s.Virtual)
	}
}

// A core quorum is a majority of whoever decides, and of the rest each node is
// broken for ever.
func TestCoreQuorum(t *testing.T) {
	for seed := range uint64(20) {
		s := newCluster(newStage(Scenario{Name: "core"}, Options{Seed: seed, Virtual: 5 * time.Minute}))
		s.build(referenceTopology())
		s.coreQuorum()
		if want := 3 + 2 + 3*2 + 3*coreWorkers; len(s.core) != want || len(s.faults) != len(s.nodes)-want {
			t.Fatalf("seed %d: %d in the core, %d faults, want %d and %d", seed, len(s.core), len(s.faults), want, len(s.nodes)-want)
		}
		for _, f := range s.faults {
			if f.For != 0 || f.At <= s.heal {
				t.Errorf("seed %d: %+v ends", seed, f)
			}
		}
	}
}

// WORLD-4: what is cut off a run is its end.
func TestACutRunIsTheBeginning(t *testing.T) {
	s := gulled()
	trace := func(until time.Duration) []byte {
		var b bytes.Buffer
		s.Run(Options{Seed: 5, Until: until, Observer: sim.NewTracer(&b)})
		return b.Bytes()
	}
	whole, cut := trace(0), trace(20*time.Second)
	if len(cut) == 0 || len(cut) >= len(whole) || !bytes.HasPrefix(whole, cut) {
		t.Errorf("%d bytes of trace, cut %d: not its beginning", len(whole), len(cut))
	}
}
