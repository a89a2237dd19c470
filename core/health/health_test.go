package health

import (
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"pgregory.net/rapid"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/message/toy"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
)

// host has a monitor and compares clocks. A SwimAck is a sample whose round trip took Sequence
// milliseconds. A Ping's From sets local health, its Counter makes the loop late by so many
// milliseconds.
type host struct {
	monitor *Monitor
	clocks  *Clocks
}

func (h *host) Step(env node.Env, in *node.Input) {
	switch in.Kind {
	case node.InputStart:
		h.monitor.Start(env)
	case node.InputTimer:
		h.monitor.Fire(env, in.Timer)
	case node.InputMessage:
		m := in.Message.(*message.SwimAck)
		h.clocks.Observe(env, in.From.ID, in.From.Incarnation, Sample{
			env.Now().Add(-time.Duration(m.Sequence) * time.Millisecond), env.Now(), time.Duration(m.Uptime) * time.Millisecond,
		})
	case node.InputCommand:
		p := in.Message.(*toy.Ping)
		if p.Counter > 0 {
			h.monitor.due = h.monitor.due.Add(-time.Duration(p.Counter) * time.Millisecond)
		} else {
			h.monitor.SetMultiplier(env, int(p.From))
		}
	}
}

func world() *nodetest.Env {
	return nodetest.New(nodetest.Config{
		Self: node.Peer{ID: "a", Incarnation: 1, Role: node.RoleManager, Addr: "a:1"},
		New:  func() node.Machine { return &host{New(Default()), NewClocks(DefaultClock())} },
	})
}

func TestStories(t *testing.T) {
	for _, path := range []string{"testdata/level.txt", "testdata/clock.txt"} {
		w := world()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return w.Run(t, d) })
	}
}

// A clock that was right for long and then drifts is found within a window, as one that always
// drifted: the anchor of the comparison moves on.
func TestDriftAfterALongPeace(t *testing.T) {
	w := world()
	b := node.Peer{ID: "b", Incarnation: 1, Role: node.RoleGate, Addr: "b:1"}
	found := 0
	w.WatchEvent = func(e node.Event) {
		if _, ok := e.(event.ClockSuspect); ok {
			found++
		}
	}
	w.Start()
	uptime := time.Duration(0)
	minutes := func(n int, ppm time.Duration) {
		for range 6 * n {
			w.Advance(10 * time.Second)
			uptime += 10*time.Second + 10*time.Second*ppm/million
			w.ReceiveDatagram(b, &message.SwimAck{Group: "g", Sequence: 1, Target: "b", Incarnation: 1, Uptime: uint64(uptime / time.Millisecond)})
		}
	}
	minutes(60, 10_000)
	if found != 0 {
		t.Fatalf("a clock within the bound is told %d times", found)
	}
	minutes(4, 40_000)
	if found == 0 {
		t.Error("4 % too fast for two windows, and nobody says so")
	}
}

// A peer that lost its disk counts its runs anew: its uptime goes back under the same number, and
// that is no jump of a clock. One that goes back by less than it could have run is.
func TestAPeerThatBeganAnewIsNoJump(t *testing.T) {
	for _, c := range []struct {
		uptime time.Duration
		found  bool
	}{{0, false}, {9 * time.Second, false}, {10 * time.Second, false}, {30 * time.Second, true}} {
		clocks := NewClocks(DefaultClock())
		w := nodetest.New(nodetest.Config{Self: node.Peer{ID: "a", Incarnation: 1, Role: node.RoleToy, Addr: "a:1"}, New: func() node.Machine { return nil }})
		w.Discard = true
		at := node.Instant(10 * time.Hour)
		clocks.Observe(w, "b", 1, Sample{at, at, 9 * time.Hour})
		at = at.Add(10 * time.Second)
		if f, found := clocks.Observe(w, "b", 1, Sample{at, at, c.uptime}); found != c.found {
			t.Errorf("an uptime of %v after one of 9 h: %+v, %v", c.uptime, f, found)
		}
	}
}

// A lag counts for the rest of its window and for the next one, exactly.
func TestLagCountsForTwoWindows(t *testing.T) {
	h := &host{New(Default()), NewClocks(DefaultClock())}
	w := nodetest.New(nodetest.Config{
		Self: node.Peer{ID: "a", Incarnation: 1, Role: node.RoleManager, Addr: "a:1"},
		New:  func() node.Machine { return h },
	})
	w.Start()
	w.Advance(Default().Window)
	h.monitor.due = h.monitor.due.Add(-time.Second) // the first timer of the second window is late
	w.Advance(2*Default().Window - Default().Interval)
	if got := h.monitor.Lag(); got != time.Second {
		t.Errorf("in the window after it the lag is %v, want 1s", got)
	}
	w.Advance(Default().Interval)
	if got := h.monitor.Lag(); got != 0 {
		t.Errorf("two windows later the lag is %v, want none", got)
	}
}

func TestLevels(t *testing.T) {
	for n, want := range []Level{Normal, Normal, Elevated, Elevated, High, High, Severe, Critical, Critical} {
		if got := OfMultiplier(n); got != want {
			t.Errorf("multiplier %d is %v, want %v", n, got, want)
		}
	}
	for _, r := range []struct {
		lag  time.Duration
		want Level
	}{
		{0, Normal}, {499 * time.Millisecond, Normal}, {500 * time.Millisecond, Elevated}, {time.Second, High},
		{2*time.Second - 1, High}, {2 * time.Second, Severe}, {4*time.Second - 1, Severe}, {4 * time.Second, Critical},
	} {
		if got := OfLag(r.lag); got != r.want {
			t.Errorf("lag %v is %v, want %v", r.lag, got, r.want)
		}
	}
	if got := Of(7, 600*time.Millisecond); got != Critical {
		t.Errorf("the worse of critical and elevated is %v", got)
	}
}

// play draws a peer's clock, which starts somewhere and runs at a rate, and returns the
// findings.
func play(t *rapid.T, low, high int64) (found []Finding, elapsed time.Duration) {
	ppm := rapid.Int64Range(low, high).Draw(t, "ppm")
	c := NewClocks(DefaultClock())
	w := nodetest.New(nodetest.Config{Self: node.Peer{ID: "a", Incarnation: 1, Role: node.RoleToy, Addr: "a:1"}, New: func() node.Machine { return nil }})
	w.Discard = true
	up := rapid.Int64Range(0, 1<<50).Draw(t, "up")
	now := node.Instant(1 << 40)
	for range rapid.IntRange(2, 100).Draw(t, "probes") {
		sent := now
		there := rapid.Int64Range(0, 3e9).Draw(t, "there")
		back := rapid.Int64Range(0, 3e9).Draw(t, "back")
		uptime := up + int64(elapsed) + there
		uptime += (int64(elapsed) + there) / million * ppm
		received := sent.Add(time.Duration(there + back))
		if f, ok := c.Observe(w, "b", 1, Sample{sent, received, time.Duration(uptime)}); ok {
			found = append(found, f)
		}
		step := time.Duration(there+back) + time.Duration(rapid.Int64Range(0, 20e9).Draw(t, "wait"))
		now, elapsed = now.Add(step), elapsed+step
	}
	return found, elapsed
}

// HEALTH-2: Clocks does not suspect a clock within the bound, whatever the network does.
func TestClocksWithinTheBoundAreTrusted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if found, _ := play(t, -19_990, 19_990); len(found) > 0 {
			t.Fatalf("suspected: %+v", found)
		}
	})
}

// HEALTH-3: Clocks suspects a clock that drifts by a tenth within a minute, plus its share of
// two round trips.
func TestClocksBeyondTheBoundAreFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		found, elapsed := play(t, 100_000, 200_000)
		if elapsed > 3*time.Minute && len(found) == 0 {
			t.Fatalf("a clock that is a tenth too fast was not found in %v", elapsed)
		}
		for _, f := range found {
			if f.PPM <= 0 {
				t.Fatalf("a fast clock was found to be slow: %+v", f)
			}
		}
	})
}

// HEALTH-2 at its edge: two clocks at the bound, one slow and one fast, uptimes in whole
// milliseconds, and a network without latency.
func TestClocksAtTheBoundAreTrusted(t *testing.T) {
	for _, rates := range [][2]int64{{990_000, 1_010_000}, {1_010_000, 990_000}} {
		c := NewClocks(DefaultClock())
		w := nodetest.New(nodetest.Config{Self: node.Peer{ID: "a", Incarnation: 1, Role: node.RoleToy, Addr: "a:1"}, New: func() node.Machine { return nil }})
		w.Discard = true
		for n := range int64(500) {
			at := n * 7_000_400_003
			now := node.Instant(at / million * rates[0])
			up := time.Duration(at / million * rates[1]).Truncate(time.Millisecond)
			if f, ok := c.Observe(w, "b", 1, Sample{now, now, up}); ok {
				t.Fatalf("sample %d of rates %v: %+v", n, rates, f)
			}
		}
	}
}
