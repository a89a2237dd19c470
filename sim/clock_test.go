package sim_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/node"
	"hyperscale/sim"
)

// World.Clock returns what the node itself would read, however its clock drifts, also while it
// is paused.
func TestClockIsTheNodesOwn(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := sim.New(sim.Config{Seed: 1, Network: plainNetwork(), Beyond: true})
		var own node.Instant
		w.Add(sim.Spec{ID: "a", Role: node.RoleToy, Place: "dc", DriftPPM: rapid.Int64Range(-100_000, 100_000).Draw(rt, "drift"),
			ClockOffset: time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(rt, "offset")),
			New: func() node.Machine {
				return &scripted{func(env node.Env, in *node.Input) { own = env.Now() }}
			}})
		if _, _, ok := w.Clock("a"); ok {
			rt.Fatal("a node that was not started has a clock")
		}
		w.Start("a")
		for range rapid.IntRange(1, 5).Draw(rt, "steps") {
			w.RunUntil(w.Now() + time.Duration(rapid.Int64Range(1, int64(time.Minute)).Draw(rt, "run")))
			if err := w.Apply(sim.Fault{Kind: sim.FaultClockDrift, Value: rapid.Int64Range(-100_000, 100_000).Draw(rt, "bent"), Beyond: true}); err != nil {
				rt.Fatal(err)
			}
			before, incarnation, ok := w.Clock("a")
			w.Command("a", ping(0), func(node.Message) {})
			w.RunUntil(w.Now())
			if !ok || incarnation != 1 || own != before {
				rt.Fatalf("the world reads %v of incarnation %d, %v, the node %v", before, incarnation, ok, own)
			}
			w.Pause("a")
			w.RunUntil(w.Now() + time.Second)
			if paused, _, ok := w.Clock("a"); !ok || paused <= before {
				rt.Fatalf("paused: %v after %v, %v", paused, before, ok)
			}
			w.Resume("a")
			w.RunUntil(w.Now())
		}
		w.Restart("a", sim.KeepDisk)
		if _, incarnation, ok := w.Clock("a"); !ok || incarnation != 2 {
			rt.Fatalf("after a restart: incarnation %d, %v", incarnation, ok)
		}
		w.Crash("a")
		if _, _, ok := w.Clock("a"); ok {
			rt.Fatal("a node that is down has a clock")
		}
	})
}
