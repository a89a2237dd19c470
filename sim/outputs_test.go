package sim_test

import (
	"fmt"
	"testing"
	"time"

	"hyperscale/core/node"
	"hyperscale/sim"
)

// slow is a place that takes a second, and fails what is called lost.
type slow struct{ log func(string, ...any) }

func (s slow) Take(from node.ID, d *node.Delivery) (time.Duration, node.Delivered) {
	s.log("%s takes %s of %s", d.Sink, d.Batch, from)
	switch d.Sink {
	case "silent":
		return -1, node.Delivered{}
	case "broken":
		return time.Second, node.Delivered{Verdict: node.DeliveryFailed, Why: "no space"}
	}
	return time.Second, node.Delivered{Verdict: node.DeliveryDone, Twice: 3}
}

// A node hears of what it delivered once, unless it forgets it, crashes, or the place is silent.
func TestDeliveries(t *testing.T) {
	w := newWorld(t, sim.Config{Seed: 1})
	step := func(sinks ...string) func(node.Env, *node.Input) {
		return func(env node.Env, in *node.Input) {
			switch in.Kind {
			case node.InputStart:
				for i, sink := range sinks {
					env.Outputs().Deliver(node.Delivery{ID: node.DeliveryID(i + 1), Sink: sink, Batch: fmt.Appendf(nil, "rows %d", i+1)})
				}
				env.Outputs().Forget(2)
			case node.InputDelivered:
				w.log("%s %+v", env.Self().ID, *in.Delivered)
			}
		}
	}
	w.add(sim.Spec{ID: "a", Sinks: slow{w.log}}, step("good", "forgotten", "silent", "broken"))
	w.add(sim.Spec{ID: "b"}, step("good"))
	w.add(sim.Spec{ID: "c", Sinks: slow{w.log}}, step("good"))
	w.At(500*time.Millisecond, func() { w.Crash("c") })
	w.RunUntil(10 * time.Second)
	w.took(
		"0s good takes rows 1 of a", "0s forgotten takes rows 2 of a", "0s silent takes rows 3 of a", "0s broken takes rows 4 of a", "0s good takes rows 1 of c",
		"0s b {ID:1 Verdict:unconfigured Why:sink good is not configured on b Rejected:0 RejectedRequests:0 Lost:0 LostRequests:0 Twice:0}",
		"1s a {ID:1 Verdict:done Why: Rejected:0 RejectedRequests:0 Lost:0 LostRequests:0 Twice:3}",
		"1s a {ID:4 Verdict:failed Why:no space Rejected:0 RejectedRequests:0 Lost:0 LostRequests:0 Twice:0}",
	)
}
