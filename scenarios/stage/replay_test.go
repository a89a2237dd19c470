package stage

import (
	"testing"
	"time"

	"hyperscale/core/node"
	"hyperscale/sim"
)

// beating wakes each 100 ms.
type beating struct{}

func (beating) Step(env node.Env, in *node.Input) {
	if in.Kind != node.InputMessage {
		env.SetTimer(node.Key(node.PartNone, 1), 100*time.Millisecond)
	}
}

// Times of later faults depend on earlier ones, and so does what a world draws behind them. A
// replay of the same faults is the same run.
func TestAReplayDrawsWhatItsRunDrew(t *testing.T) {
	world := Scenario{Name: "drawn", Virtual: time.Minute, Build: func(s *Stage) {
		s.World.Add(sim.Spec{ID: "beating", Role: node.RoleToy, Place: "here", New: func() node.Machine { return beating{} }})
		for range 40 {
			s.Fault(sim.Fault{At: s.DrawTime(), For: s.DrawLength(time.Minute), Kind: sim.FaultSlowCPU, Value: 3})
		}
		s.World.At(s.Rand.Duration(0, 2*time.Second), func() { s.World.Start("beating") })
		s.Judge(time.Second, func() {})
	}}
	o := Options{Seed: 3}
	r := world.Run(o)
	if o.Faults = r.Faults; world.Run(o).Hash != r.Hash {
		t.Errorf("a replay of its %d faults has another hash", len(r.Faults))
	}
}
