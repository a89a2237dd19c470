package engine

import (
	"context"
	"runtime"
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

// A loop on the only processor lets a goroutine run that waits for it, and not in each turn.
func TestLoopLetsOtherGoroutinesRun(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var b breath
	b.take(int64(breathEvery) - 1)
	if b.at != 0 {
		t.Fatalf("it let others run at %d ns, want %v", b.at, breathEvery)
	}
	var ran atomic.Bool
	go ran.Store(true)
	for now := int64(breathEvery); !ran.Load() && now < 10*int64(breathEvery); now += int64(breathEvery) {
		b.take(now)
	}
	if !ran.Load() {
		t.Error("a goroutine that waited has not run")
	}
}
