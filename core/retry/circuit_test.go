package retry

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/node"
)

// Three failures within the window open the circuit. It then lets one trial at a time through,
// and old failures do not count.
func TestCircuit(t *testing.T) {
	f := Fuse{Failures: 3, Window: 30 * time.Second, Reset: 10 * time.Second}
	var c Circuit
	at := node.Instant(time.Hour)
	c.Failed(f, at)
	c.Failed(f, at)
	if at = at.Add(f.Window); c.Try(f, at) != 0 {
		t.Fatal("two failures open it")
	}
	if c.Failed(f, at) || c.Try(f, at) != 0 {
		t.Fatal("failures of a window ago open it")
	}
	c.Failed(f, at)
	if opened := c.Failed(f, at); !opened || c.Try(f, at) != f.Reset || c.Tries() {
		t.Fatalf("after three failures %v are left, want %v", c.Left(at), f.Reset)
	}
	at = at.Add(f.Reset)
	if c.Try(f, at-1) != 1 || c.Try(f, at) != 0 || !c.Tries() {
		t.Fatal("no trial when its time has come, or one before")
	}
	if c.Try(f, at) != f.Reset {
		t.Fatal("two trials at once")
	}
	if opened := c.Failed(f, at.Add(1)); opened || c.Left(at.Add(1)) != f.Reset || c.Tries() {
		t.Fatal("a trial that failed does not keep it open")
	}
	if closed := c.Worked(); !closed || c.Try(f, at) != 0 || c.Open() || c.Failures() != 0 {
		t.Fatal("a trial that worked does not close it")
	}
	if c.Worked() {
		t.Fatal("it closes twice")
	}
}

// Whatever fails and works, and when: it opens at the third failure since it last worked of those in
// a window, and no earlier. While it is open, two requests that it lets through are Reset apart, and
// one may go as soon as that.
func TestAnOpenCircuitLetsOneThroughAtATime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := Fuse{Failures: rapid.IntRange(1, 5).Draw(t, "failures"), Window: 60 * time.Second, Reset: time.Duration(rapid.IntRange(1, 40).Draw(t, "reset")) * time.Second}
		var c Circuit
		now := node.Instant(time.Hour)
		var failed []node.Instant // since it last worked
		open, next := false, node.Instant(0)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0:
				now = now.Add(time.Duration(rapid.SampledFrom([]int64{1, int64(f.Reset) - 1, int64(f.Reset), int64(f.Window) - 1, int64(f.Window)}).Draw(t, "passes")))
			case 1, 2:
				failed = append(failed, now)
				n := 0
				for _, at := range failed {
					if now.Sub(at) < f.Window {
						n++
					}
				}
				was := open
				if open = open || n >= f.Failures; open {
					next = now.Add(f.Reset)
				}
				if opened := c.Failed(f, now); opened != (open && !was) {
					t.Fatalf("failure %d in a window opens it: %v", n, opened)
				}
			case 3:
				if c.Worked() != open {
					t.Fatalf("it was open: %v, want %v", !open, open)
				}
				failed, open = nil, false
			default:
				want := time.Duration(0)
				if open {
					want = max(0, next.Sub(now))
				}
				if wait := c.Try(f, now); wait != want {
					t.Fatalf("a request waits %v, want %v", wait, want)
				}
				if open && want == 0 {
					next = now.Add(f.Reset)
				}
			}
			if c.Open() != open {
				t.Fatalf("it is open: %v, want %v", c.Open(), open)
			}
		}
	})
}
