package engine

import (
	"testing"

	"hyperscale/core/message"
	"hyperscale/runtime/target"
)

// TestAThrottledRunBeginsNoNewUser: one user does all iterations, and the result says how many did not
// begin. Once the throttle ends, the others begin.
func TestAThrottledRunBeginsNoNewUser(t *testing.T) {
	for _, until := range []uint64{1 << 60, 20} {
		s := serve(t, func(*target.Config) {})
		w := flow(get("home", s.URL()+"/home"))
		w.Plan.Iterations = 200
		seen := uint64(0)
		r := run(t, t.Context(), Config{Workflow: w, VUs: 5, Seed: 3, Turned: func() { seen = s.Stats().Paths["/home"] }, Orders: Orders{Throttled: func() bool { return seen < until }}})
		g := r.Stats.Generator
		if r.State != message.WorkflowCompleted || g.Begun != 200 || g.Held != 4 {
			t.Errorf("throttled up to %d requests: %v, %d begun, %d held, want 200 and 4", until, r.State, g.Begun, g.Held)
		}
		if conns := s.Stats().Connections; (conns == 1) != (until > 200) {
			t.Errorf("throttled up to %d requests: %d users connected", until, conns)
		}
	}
}
