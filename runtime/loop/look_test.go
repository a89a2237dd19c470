package loop

import (
	"context"
	"errors"
	"testing"
	"time"

	"hyperscale/core/node"
)

// A look runs between two steps of a machine, sees what they did, and ends with its caller's patience or
// with the loop.
func TestLook(t *testing.T) {
	steps, stepping := 0, false
	hold, held := make(chan bool), make(chan bool)
	s := newScript(func(_ node.Env, in *node.Input) {
		stepping = true
		if steps++; in.Kind == node.InputStreamOpened {
			held <- true
			<-hold
		}
		stepping = false
	})
	l := New(Config{Self: node.Peer{ID: "a", Incarnation: 1}, Machine: s})
	ended := make(chan error)
	go func() { ended <- l.Run(World{Network: &wire{}}) }()
	s.next(t)
	seen, during := 0, true
	if err := l.Look(t.Context(), func(node.Instant) { seen, during = steps, stepping }); err != nil || seen != 1 || during {
		t.Errorf("%v: it saw %d steps, one of them running: %v; want the first, which has ended", err, seen, during)
	}
	l.StreamOpened(7, node.Peer{ID: "b"})
	<-held // a step that lasts
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	for i := range looksMax + 1 {
		err := l.Look(ctx, func(node.Instant) {})
		if full := i == looksMax; err == nil || errors.Is(err, context.DeadlineExceeded) == full {
			t.Errorf("look %d at a machine that is busy: %v", i, err)
		}
	}
	hold <- true
	s.next(t)
	l.Stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if err := l.Look(t.Context(), func(node.Instant) { t.Error("it looks at a machine that has ended") }); err == nil {
		t.Errorf("it looked after the end")
	}
}
