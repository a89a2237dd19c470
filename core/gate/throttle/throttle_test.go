package throttle_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/gate/throttle"
	"hyperscale/core/node"
)

// TestConvergesToWhatManagersTake plays a step of load on managers that take up a number of jobs a
// second, and relief after it. The rate stays within its bounds. Under the step the backlog stays
// below the one that a fixed rate at the bound leaves, jobs go on at no less than a quarter of what
// managers take, and after relief the rate returns to the bound within ten calm periods.
func TestConvergesToWhatManagersTake(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const target = 30 * time.Second
		most := rapid.IntRange(2, 500).Draw(t, "most")
		takes := rapid.IntRange(1, most).Draw(t, "managers take")
		now := node.Instant(1)
		th := throttle.New(most, target, now)
		backlog, done, periods := 0, 0, 200
		for range periods {
			for range 100 { // tenths of a second: the gate has more jobs than it may dispatch
				for th.Take(now) == 0 {
					backlog++
				}
				if n := min(backlog, max(1, takes/10)); n > 0 {
					took := time.Duration(backlog) * time.Second / time.Duration(takes)
					for range n {
						th.Observe(took)
					}
					backlog, done = backlog-n, done+n
				}
				now = now.Add(100 * time.Millisecond)
			}
			if !th.Due(now) {
				t.Fatalf("a period is not over")
			}
			was := th.Rate()
			if th.Close(now, 0); th.Rate() < 1 || th.Rate() > most || th.Rate() > was+max(1, most/10)+1 {
				t.Fatalf("the rate goes from %d to %d, its bound is %d", was, th.Rate(), most)
			}
		}
		if served := min(takes, 10*max(1, takes/10)); done < served*periods*10/4 {
			t.Fatalf("%d jobs began in %d periods of %v, and managers take %d a second", done, periods, throttle.Period, served)
		}
		if fixed := (most - takes) * periods * 10; fixed > 100*most && backlog > fixed/2 {
			t.Fatalf("%d jobs wait to begin: a fixed rate leaves %d", backlog, fixed)
		}
		for range 10 {
			now = now.Add(throttle.Period)
			th.Observe(time.Second)
			th.Close(now, 0)
		}
		if th.Rate() != most {
			t.Fatalf("after ten calm periods the rate is %d of %d", th.Rate(), most)
		}
	})
}

// One of a hundred dispatches may be slower than the target. What never runs counts as slow. Each
// breach halves the rate, down to one a second.
func TestBreachesHalveTheRate(t *testing.T) {
	for _, x := range []struct {
		quick, slow, late int
		want              int
	}{
		{0, 0, 0, 64}, {99, 1, 0, 64}, {98, 1, 0, 32}, {0, 1, 0, 32}, {99, 0, 1, 64}, {98, 0, 1, 32}, {0, 0, 1, 32},
	} {
		th := throttle.New(64, time.Second, 0)
		for range x.quick {
			th.Observe(time.Second)
		}
		for range x.slow {
			th.Observe(time.Second + 1)
		}
		if th.Close(node.Instant(throttle.Period), x.late); th.Rate() != x.want {
			t.Errorf("%+v: the rate is %d", x, th.Rate())
		}
	}
	th := throttle.New(64, time.Second, 0)
	for i := range 20 {
		th.Close(node.Instant(time.Duration(i+1)*throttle.Period), 1)
	}
	if th.Rate() != 1 {
		t.Errorf("after 20 breaches the rate is %d, want 1", th.Rate())
	}
}

// In any second a gate dispatches at most a second's worth of tokens and those that it had.
func TestBurstsAreBounded(t *testing.T) {
	th := throttle.New(10, time.Second, 0)
	taken := 0
	for ms := range 1000 {
		for th.Take(node.Instant(time.Duration(ms)*time.Millisecond)) == 0 {
			taken++
		}
	}
	if taken < 19 || taken > 20 {
		t.Errorf("%d dispatches in a second of a rate of 10", taken)
	}
	if wait := th.Take(node.Instant(999 * time.Millisecond)); wait <= 0 || wait > 101*time.Millisecond {
		t.Errorf("the next token comes after %v", wait)
	}
}

// After breaches each calm period adds a tenth of the bound, up to the bound.
func TestCalmPeriodsRaiseTheRate(t *testing.T) {
	th := throttle.New(40, time.Second, 0)
	now := node.Instant(0)
	for i, want := range []int{20, 10, 14, 18, 22, 26, 30, 34, 38, 40, 40, 40} {
		now = now.Add(throttle.Period)
		late := 0
		if i < 2 {
			late = 1
		}
		if th.Close(now, late); th.Rate() != want {
			t.Fatalf("after period %d the rate is %d, want %d", i+1, th.Rate(), want)
		}
	}
}
