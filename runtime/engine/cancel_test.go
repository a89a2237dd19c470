package engine

import (
	"fmt"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/runtime/engine/pool"
)

// A function cancels the run in the middle of a turn, before the loop checks whether to stop.
// The rest of that turn starts no iteration, and sends no request that waits for a connection.
func TestCancelledRunStartsNothing(t *testing.T) {
	s := serve(t, nil)
	cancel := func(p *play) workflow.Outcome {
		p.client.(client).l.Halt.Cancelled.Store(true)
		return workflow.Outcome{OK: true}
	}
	for name, rate := range map[string]uint64{"closed": 0, "open": 1 << 40} {
		t.Run(name, func(t *testing.T) {
			w := flow(other("cancels", message.StepFunction))
			w.Plan.Rate, w.Plan.Queue = rate, true
			r := perform(t, t.Context(), Config{Workflow: w, VUs: 1, Duration: time.Minute}, map[int]func(*play) workflow.Outcome{0: cancel})
			if got := tallies(r)["cancels"]; got != (tally{Started: 1, OK: 1}) {
				t.Errorf("got %+v, want one iteration", got)
			}
		})
	}
	t.Run("pool", func(t *testing.T) {
		w := flow(other("visits", message.StepFunction))
		w.Plan.Connections = 1
		visit := func(p *play) workflow.Outcome {
			out := fetch(s.URL() + "/")(p)
			cancel(p)
			return out
		}
		r := perform(t, t.Context(), Config{Workflow: w, VUs: 8}, map[int]func(*play) workflow.Outcome{0: visit})
		if got := r.Stats.Steps[0].Sent; got != 1 {
			t.Errorf("sent %d requests over one connection, want the one before the cancel", got)
		}
	})
}

// A run is cut while requests have failed that the loop has not counted yet: each counts as failed, and none as
// cancelled.
func TestCutCountsWhatFailedBefore(t *testing.T) {
	const target = "http://255.255.255.255:9" // nothing routes there: a connection fails at once
	for name, step := range map[string]string{"request": `step("a", http.get("TARGET/"))`, "function": `step("a", lambda vu: vu.http.get("TARGET/", name = "b"))`} {
		t.Run(name, func(t *testing.T) {
			w := loadFile(t, target, fmt.Sprintf(`workflow(name = "test", vus = 4, duration = "60s", steps = [%s])`, step))
			asked := 0
			over := func() bool { asked++; return asked > 3 }
			r := run(t, t.Context(), Config{Workflow: w, VUs: 4, Duration: time.Minute, Orders: Orders{Over: over}})
			got := r.Stats.Steps[len(r.Stats.Steps)-1]
			if got.Started < 4 || got.Failed != got.Started || got.Cancelled != 0 {
				t.Errorf("%s: failed %d, cancelled %d of %d: %v", got.Name, got.Failed, got.Cancelled, got.Started, got.Errors)
			}
		})
	}
}

// What broke in a setup is over when the clock begins: its slot may be that of a carrier, which serves the next one.
func TestTheClockBeginsWithNothingBroken(t *testing.T) {
	cfg := Config{Workflow: flow(get("home", "http://127.0.0.1:9/")), VUs: 1, Duration: time.Minute}
	g, err := newGraph(cfg)
	if err == nil {
		err = g.resolve(t.Context(), time.Second)
	}
	if err != nil {
		t.Fatal(err)
	}
	l, err := newLoop(cfg, g)
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	l.Slots.Breaks(0, pool.ErrCancelled)
	if l.begins(); len(l.Slots.Broken) > 0 {
		t.Errorf("the clock begins, and %v fails then", l.Slots.Broken)
	}
}
