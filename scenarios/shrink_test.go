package scenarios

import (
	"bytes"
	"testing"
	"time"

	"hyperscale/checker"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// gulled is the canary among unrelated faults.
func gulled() stage.Scenario {
	return stage.Scenario{Name: "gulled", Virtual: time.Minute, Build: func(s *stage.Stage) {
		buildCanary(s)
		for range 40 {
			s.Fault(sim.Fault{At: s.DrawTime(), For: s.DrawLength(time.Minute), Kind: sim.FaultSlowCPU, Value: 3})
			s.Fault(sim.Fault{At: s.DrawTime(), Kind: sim.FaultBreakStreams, Nodes: []string{"sender"}})
		}
	}}
}

// Of 81 faults only the one remains that the failure needs, and the run ends where it broke.
func TestShrinkLeavesTheCause(t *testing.T) {
	s := gulled()
	o := stage.Options{Seed: 3}
	r := s.Run(o)
	if r.Outcome != stage.Violation || r.Violations[0].Invariant != "T3" || r.Broken != r.Violations[0].At {
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

// A world that is not at rest yet gets additional time. A failure in that time is played whole,
// because a schedule can be cut at its world's end at most.
func TestShrinkPlaysALateFailureWhole(t *testing.T) {
	s := gulled()
	build := s.Build
	s.Build = func(st *stage.Stage) {
		build(st)
		st.Within = 0 // its end is judged
		st.Witness = append(st.Witness, func(r checker.Record) {
			if r.At > s.Virtual {
				st.Checker.Violate("T12", r, "late")
			}
		})
		st.Verdicts = append(st.Verdicts, func() { st.World.RunUntil(s.Virtual + 10*time.Second) }) // as rest does
	}
	o := stage.Options{Seed: 3, Faults: []sim.Fault{}}
	r := s.Run(o)
	if r.Outcome != stage.Violation || r.Broken <= s.Virtual {
		t.Fatalf("%v at %v, want a failure after the end at %v", r.Outcome, r.Broken, s.Virtual)
	}
	small, ok := s.Shrink(o, r, nil, nil)
	if !ok || small.Options.Until > s.Virtual {
		t.Errorf("%v: cut at %v, and the world lasts %v", ok, small.Options.Until, s.Virtual)
	}
}

// WORLD-4: a cut removes the end of a run.
func TestACutRunIsTheBeginning(t *testing.T) {
	s := gulled()
	trace := func(until time.Duration) []byte {
		var b bytes.Buffer
		s.Run(stage.Options{Seed: 5, Until: until, Observer: sim.NewTracer(&b)})
		return b.Bytes()
	}
	whole, cut := trace(0), trace(20*time.Second)
	if len(cut) == 0 || len(cut) >= len(whole) || !bytes.HasPrefix(whole, cut) {
		t.Errorf("%d bytes of trace, cut %d: not its beginning", len(whole), len(cut))
	}
}
