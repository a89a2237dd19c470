package lease

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/event"
	"hyperscale/core/node"
)

// At the drift bound and without any delay, a rival that always asks gets the register a moment
// after the holder's window has closed, never before.
func TestWindowsDoNotTouchAtTheDriftBound(t *testing.T) {
	for _, holder := range []int64{-10_000, 0, 10_000} {
		for _, others := range []int64{-10_000, 0, 10_000} {
			t.Run(fmt.Sprintf("%d/%d", holder, others), func(t *testing.T) {
				g := newGroup([]string{"a", "b", "c"}, small(), 1)
				j := newJudge(g)
				g.latency = func(int, int, node.Message) []time.Duration { return []time.Duration{0} }
				g.disk = func() time.Duration { return 0 }
				for _, h := range g.members {
					h.ppm = others
				}
				a, b := g.members[0], g.members[1]
				a.ppm = holder
				for _, h := range g.members {
					h.begin()
				}
				g.advance(time.Second)
				a.r.Acquire(a, jobN(1), nil)
				g.advance(0)
				if _, ok := a.r.Holds(a.Now(), jobN(1)); !ok {
					t.Fatal("a is no holder")
				}
				from := g.now
				g.held = func(from, to int, m node.Message) bool { return from == 0 || to == 0 }
				granted := time.Duration(0)
				g.watch = func(h *host, e node.Event) {
					if _, ok := e.(event.LeaseGranted); ok && h == b {
						granted = time.Duration(g.now - from)
					}
					j.event(h, e)
				}
				g.advance(9700 * time.Millisecond)
				for granted == 0 && g.now-from < int64(11*time.Second) {
					b.r.Acquire(b, jobN(1), nil)
					g.advance(100 * time.Microsecond)
				}
				if j.fault != "" {
					t.Error(j.fault)
				}
				if most := 10*time.Second*102/100 + 10*time.Millisecond; granted == 0 || granted > most {
					t.Errorf("b is granted after %v, want at most %v", granted, most)
				}
			})
		}
	}
}

// Equal instants: the window is closed when now - sent is H, the guard is over when now -
// received is G, and not one tick earlier.
func TestEdgesOfWindowAndGuard(t *testing.T) {
	g := newGroup([]string{"a", "b", "c"}, small(), 1)
	g.latency = func(int, int, node.Message) []time.Duration { return []time.Duration{0} }
	g.disk = func() time.Duration { return 0 }
	for _, h := range g.members {
		h.begin()
	}
	g.advance(time.Second)
	a, b := g.members[0], g.members[1]
	a.r.Acquire(a, jobN(1), nil)
	g.advance(0)
	g.held = func(int, int, node.Message) bool { return true }
	c := small()
	held := func() bool { _, ok := a.r.Holds(a.Now(), jobN(1)); return ok }
	left := func() bool { s, _ := b.r.Seen(b.Now(), jobN(1)); return s.Left > 0 }
	g.advance(c.Hold() - 1)
	if !held() {
		t.Errorf("a holds nothing a tick before H")
	}
	g.now++ // before its timer fires
	if held() {
		t.Errorf("a holds still at H")
	}
	g.advance(c.Guard() - c.Hold() - 1)
	if !left() {
		t.Errorf("b takes it for free a tick before G")
	}
	g.advance(1)
	if left() {
		t.Errorf("b takes it for held at G")
	}
}

// The answer arrives at the very instant at which the window closes, before any timer: the
// tenure is lost all the same.
func TestLateAnswerRevivesNothing(t *testing.T) {
	g := newGroup([]string{"a", "b", "c"}, small(), 1)
	var lost, updated int
	g.tell = func(h *host, o Outcome) {
		switch o.Kind {
		case Lost:
			lost++
		case Updated:
			updated++
		}
	}
	for _, h := range g.members {
		h.begin()
	}
	g.advance(time.Second)
	a := g.members[0]
	a.r.Acquire(a, jobN(1), nil)
	g.advance(100 * time.Millisecond)
	g.held = func(from, to int, m node.Message) bool { return to == 0 }
	a.r.Update(a, jobN(1), []byte("late"), 1)
	g.advance(time.Second)
	p := a.r.registers[jobN(1)].own
	g.now += int64(p.until.Sub(a.Now()))
	for _, e := range g.kept {
		g.deliver(e)
	}
	if _, ok := a.r.Holds(a.Now(), jobN(1)); ok || lost != 1 || updated != 0 {
		t.Errorf("a holds the job: %v; it was told of %d losses and %d updates, want 1 and 0", ok, lost, updated)
	}
}

// Beyond the bound tokens stay unique, and a later owner never undoes a completed update. Two
// nodes may hold at once; this test does not judge that.
func TestRecordsSurviveClocksBeyondTheBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newCruel(t, 3)
		w.beyond = true
		for _, h := range w.g.members {
			h.config.DriftPPM = 0
			h.crash(false)
		}
		w.g.members[0].ppm, w.g.members[1].ppm = -150_000, 150_000
		for _, h := range w.g.members {
			h.begin()
		}
		w.g.advance(time.Second)
		t.Repeat(w.actions())
		w.finish(t)
	})
}
