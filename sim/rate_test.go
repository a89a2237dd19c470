package sim_test

import (
	"slices"
	"testing"
	"time"

	"hyperscale/core/message/toy"
	"hyperscale/core/node"
	"hyperscale/netsim"
	"hyperscale/sim"
)

// echo answers each datagram at once, or each after a timer.
type echo struct {
	to    node.Addr
	paced bool
}

func (e *echo) Step(env node.Env, in *node.Input) {
	answer := in.Kind == node.InputStart && e.to != "" || in.Kind == node.InputTimer || in.Kind == node.InputMessage && !e.paced
	switch {
	case answer && e.to != "":
		env.Datagram(e.to, &toy.Ping{})
	case answer:
		env.Datagram(in.From.Addr, &toy.Ping{})
	case in.Kind == node.InputMessage:
		env.SetTimer(node.Key(node.PartNone, 1), 10*time.Millisecond)
	}
}

func TestWhatIsAnsweredAtWireSpeedIsTold(t *testing.T) {
	for _, paced := range []bool{false, true} {
		var told []node.ID
		w := sim.New(sim.Config{Seed: 1, Network: netsim.Default(), RateMax: 200, Flooded: func(id node.ID, k node.Kind) {
			if k != (&toy.Ping{}).Kind() {
				t.Errorf("told of kind %d", k)
			}
			told = append(told, id)
		}})
		to := node.Addr("")
		for _, id := range []node.ID{"a", "b"} {
			e := &echo{to: to, paced: paced && id == "b"}
			w.Add(sim.Spec{ID: id, Role: node.RoleToy, Place: "here", New: func() node.Machine { return e }})
			to = w.Addr(id)
			w.Start(id)
		}
		w.RunUntil(1900 * time.Millisecond)
		slices.Sort(told)
		if got, want := len(told), 4; !paced && (got != want || told[0] != "a" || told[2] != "b") || paced && got != 0 {
			t.Errorf("paced: %v, told of %v", paced, told)
		}
	}
}

// ticking sends a datagram each 10 ms.
type ticking struct{ to node.Addr }

func (m *ticking) Step(env node.Env, in *node.Input) {
	if in.Kind == node.InputTimer {
		env.Datagram(m.to, &toy.Ping{})
	}
	env.SetTimer(node.Key(node.PartNone, 1), 10*time.Millisecond)
}

// silent answers nothing.
type silent struct{}

func (silent) Step(node.Env, *node.Input) {}

// A node that slept reads in one second what came in many: no one repeats anything.
func TestWhatWaitedForASleeperIsNoFlood(t *testing.T) {
	told := 0
	w := sim.New(sim.Config{Seed: 1, Network: netsim.Default(), RateMax: 200, Flooded: func(node.ID, node.Kind) { told++ }})
	w.Add(sim.Spec{ID: "sleeper", Role: node.RoleToy, Place: "here", New: func() node.Machine { return silent{} }})
	to := w.Addr("sleeper")
	w.Add(sim.Spec{ID: "ticking", Role: node.RoleToy, Place: "here", New: func() node.Machine { return &ticking{to: to} }})
	w.Start("sleeper")
	w.Start("ticking")
	w.RunUntil(100 * time.Millisecond)
	w.Pause("sleeper")
	w.RunUntil(5 * time.Second)
	w.Resume("sleeper")
	w.RunUntil(6 * time.Second)
	if told != 0 {
		t.Errorf("told of %d floods; 100 messages a second are within the bound of 200", told)
	}
}
