package engine

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
)

// A run that Over stops sends nothing more, on both paths, even before its context is
// cancelled.
func TestNothingIsSentOnceItIsOver(t *testing.T) {
	eachPath(t, func(t *testing.T, adjust func(*workflow.Workflow)) {
		s := serve(t, nil)
		w := flow(get("home", "http://"+s.Addr()+"/"))
		adjust(w)
		var over atomic.Bool
		stop := time.AfterFunc(100*time.Millisecond, func() { over.Store(true) })
		defer stop.Stop()
		began := time.Now()
		r := run(t, context.Background(), Config{Workflow: w, VUs: 4, Duration: 20 * time.Second, Orders: Orders{Over: over.Load}})
		if r.State != message.WorkflowCancelled || time.Since(began) > 10*time.Second {
			t.Errorf("got %v after %v, want it cancelled at once", r.State, time.Since(began))
		}
		if r.Stats.Steps[0].OK == 0 {
			t.Error("nothing was sent before")
		}
	})
}
