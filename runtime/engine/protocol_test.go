package engine

import (
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/runtime/protocol/codec/codectest"
	"hyperscale/runtime/target"
)

// The loop carries an unknown protocol: one without streams, whose answers keep their order,
// and whose connections end when a request is given up.
func TestAnotherProtocol(t *testing.T) {
	for name, tt := range map[string]struct {
		vus    uint64
		shared uint32
		change func(*target.Config)
	}{
		"a connection each":  {vus: 8},
		"shared":             {vus: 32, shared: 4},
		"the server closes":  {vus: 16, shared: 4, change: func(c *target.Config) { c.CloseEvery = 7 }},
		"the server stalls":  {vus: 16, shared: 4, change: func(c *target.Config) { c.StallEvery, c.StallFor = 40, time.Minute }},
		"the server refuses": {vus: 16, change: func(c *target.Config) { c.ErrorEvery = 3 }},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(c *target.Config) {
				if tt.change != nil {
					tt.change(c)
				}
			})
			w := over2(flow(get("a", s.URL()+"/"), get("b", s.URL()+"/")), 1)
			w.Plan.Connections, w.Plan.Iterations = tt.shared, 20*tt.vus
			cfg := Config{Workflow: w, VUs: tt.vus, Duration: 20 * time.Second, Timeout: 2 * time.Second}
			g, err := newGraph(cfg)
			if err != nil {
				t.Fatal(err)
			}
			g.protocol = codectest.Ordered{}
			if err := g.resolve(t.Context(), cfg.Timeout); err != nil {
				t.Fatal(err)
			}
			l, err := newLoop(cfg, g)
			if err != nil {
				t.Fatal(err)
			}
			r, err := l.play(t.Context())
			if err != nil || r.State != message.WorkflowCompleted {
				t.Fatalf("%v: %+v", err, r)
			}
			n := exact(t, r, s)
			late := uint64(0)
			for _, a := range r.Stats.Steps {
				late += a.TimedOut
				if a.OK == 0 || tt.change == nil && a.OK != a.Started {
					t.Errorf("%s: ok %d of %d: %v", a.Name, a.OK, a.Started, a.Errors)
				}
			}
			if stalls := n / 40; name == "the server stalls" && (late == 0 || late > stalls+1) || name != "the server stalls" && late > 0 {
				t.Errorf("%d of %d requests timed out, the server stalled %d", late, n, stalls)
			}
			t.Logf("%d requests, %d late", n, late)
		})
	}
}
