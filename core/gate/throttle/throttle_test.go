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

// behind is a manager that takes some dispatches a second. Its mailbox holds so many, and it refuses
// what finds no room once it has handled what came before.
type behind struct {
	takes, room int
	credit      int // hundredths of a dispatch
	waiting     []sent
	held        int
}

type sent struct {
	at      node.Instant
	refused bool
}

func (b *behind) dispatch(at node.Instant) {
	full := b.held >= b.room
	if !full {
		b.held++
	}
	b.waiting = append(b.waiting, sent{at, full})
}

// TestKeepsBusyWhoRefuses plays managers that take far fewer dispatches a second than the bound, and a
// gate that always has more. After the first burst the manager is never idle for long, and of what it is
// sent it refuses little.
func TestKeepsBusyWhoRefuses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const tick, pause = 10 * time.Millisecond, 2 * time.Second
		b := behind{takes: rapid.IntRange(4, 40).Draw(t, "takes")}
		b.room = b.takes * rapid.IntRange(3, 8).Draw(t, "seconds of room")
		th := throttle.New(rapid.IntRange(100, 400).Draw(t, "most"), 30*time.Second, 1)
		now, spared := node.Instant(1), node.Instant(0)
		taken, refused, idle := 0, 0, 0
		const lasts, warm = 300 * time.Second, 60 * time.Second
		for at := time.Duration(0); at < lasts; at += tick {
			now = now.Add(tick)
			if th.Due(now) {
				th.Close(now, 0)
			}
			for now >= spared && th.Opens(now, len(b.waiting)) && th.Take(now) == 0 {
				b.dispatch(now)
			}
			if at > warm && len(b.waiting) == 0 {
				idle++
			}
			if b.credit += b.takes; len(b.waiting) == 0 {
				b.credit = 0
			}
			for len(b.waiting) > 0 && (b.waiting[0].refused || b.credit >= 100) {
				first := b.waiting[0]
				b.waiting = b.waiting[1:]
				if first.refused {
					th.Refuse(now, first.at)
					spared = now.Add(pause)
					if at > warm {
						refused++
					}
					continue
				}
				b.credit, b.held = b.credit-100, b.held-1
				th.Observe(now.Sub(first.at))
				if at > warm {
					taken++
				}
			}
		}
		most := int((lasts - warm).Seconds()) * b.takes
		if taken*100 < most*90 || refused*10 > taken {
			t.Fatalf("%+v takes %d of %d and refuses %d; it is idle for %v", b.takes, taken, most, refused, time.Duration(idle)*tick)
		}
	})
}

// The refusals of one burst lower the rate once: to its half, or to twice what managers take if that is
// less, but to no less than they take and no less than a tenth of the bound at once.
func TestRefusalsLowerTheRateOnce(t *testing.T) {
	for _, x := range []struct{ most, taken, want int }{
		{100, 0, 10}, {100, 100, 20}, {100, 200, 40}, {100, 450, 50}, {100, 600, 60}, {100, 2000, 100}, {8, 0, 1}, {1, 0, 1},
	} {
		th := throttle.New(x.most, time.Minute, 0)
		for range x.taken { // in a period of 10 s
			th.Observe(time.Second)
		}
		now := node.Instant(throttle.Period)
		th.Close(now, 0)
		for range 3 {
			if th.Refuse(now, now); th.Rate() != max(1, min(x.most, x.want)) && x.most > 8 {
				t.Errorf("%+v: after a burst of refusals the rate is %d", x, th.Rate())
			}
		}
		if th.Rate() < 1 || th.Rate() > x.most {
			t.Errorf("%+v: the rate is %d", x, th.Rate())
		}
		if th.Opens(now, max(4, x.most)+1) || !th.Opens(now, 3) {
			t.Errorf("%+v: after refusals a rate of %d lets %d wait for answers, or not 3", x, th.Rate(), x.most+1)
		}
	}
	if th := throttle.New(10, time.Minute, 0); !th.Opens(0, 1_000_000) {
		t.Error("without a refusal a dispatch waits for the answers of others")
	}
}

// Managers that are back get four dispatches, and one more without an answer for each quick answer. An
// answer that has waited behind others opens nothing. It is over once a second's worth is without an
// answer, or after a minute.
func TestResumesWithFew(t *testing.T) {
	const quick = 400 * time.Millisecond
	for _, x := range []struct {
		name          string
		rate          int
		after         time.Duration
		quick, queued int // answers, in this order
		want          int // dispatches that may be without an answer; 0: any number
	}{
		{"at first", 100, 0, 0, 0, 4}, {"the quickest is no measure of its own", 100, 0, 1, 0, 5}, {"each quick answer", 100, 0, 10, 0, 14},
		{"answers that waited", 100, 0, 1, 50, 5}, {"up to a second's worth", 20, 0, 15, 0, 19}, {"a second's worth", 20, 0, 16, 0, 0},
		{"a rate of few", 4, 0, 0, 0, 0}, {"for a minute", 100, time.Minute - 1, 0, 0, 4}, {"a minute later", 100, time.Minute, 0, 0, 0},
	} {
		now := node.Instant(time.Hour)
		th := throttle.New(x.rate, time.Hour, now)
		th.Observe(time.Millisecond) // before that it counts for nothing
		th.Resume(now)
		for range x.quick {
			th.Observe(quick)
		}
		for range x.queued {
			th.Observe(2*quick + 250*time.Millisecond + 1)
		}
		now = now.Add(x.after)
		most := 0
		for most < 1000 && th.Opens(now, most) {
			most++
		}
		if x.want == 0 && most < 1000 || x.want > 0 && most != x.want {
			t.Errorf("%s: %d dispatches may be without an answer, want %d (0: any number)", x.name, most, x.want)
		}
		if th.Rate() != x.rate {
			t.Errorf("%s: the rate is %d, want %d: a return is no refusal", x.name, th.Rate(), x.rate)
		}
	}
}
