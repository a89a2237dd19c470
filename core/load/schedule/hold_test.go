package schedule

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/load"
	"hyperscale/core/message"
)

// heldPlan draws a load of each kind.
func heldPlan(t *rapid.T) message.WorkflowPlan {
	p := message.WorkflowPlan{Name: "w", VUs: rapid.Uint64Range(1, 12).Draw(t, "vus"), Duration: time.Second}
	switch rapid.IntRange(0, 4).Draw(t, "load") {
	case 0:
		p.Duration = 0 // one iteration of each user
	case 1:
		p.Iterations = rapid.Uint64Range(1, 50).Draw(t, "iterations")
	case 2:
		p.Rate, p.Queue = rapid.Uint64Range(1000, 200_000).Draw(t, "rate"), rapid.Bool().Draw(t, "queue")
	case 3:
		for range 3 {
			p.Stages = append(p.Stages, message.StagePlan{Duration: p.Duration / 3, VUs: rapid.Uint64Range(0, p.VUs).Draw(t, "to")})
		}
	case 4:
		p.Think, p.Jitter = 20*time.Millisecond, 50*time.Millisecond
	}
	return p
}

// SCHED-8, SCHED-1: while it is held, no user begins that has not begun, unless nothing is under way. Each
// arrival begins or is dropped all the same, and the run ends, held or not.
func TestAHoldLetsNoNewUserBegin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := heldPlan(t)
		each := rapid.Int64Range(int64(time.Millisecond), int64(100*time.Millisecond)).Draw(t, "each")
		d := planned(p, 0, p.VUs)
		var ends heap
		now, held := int64(0), false
		toggles := rapid.SliceOfN(rapid.Int64Range(0, int64(time.Second)), 0, 5).Draw(t, "toggles")
		slices.Sort(toggles)
		for steps := 0; !d.Done(); steps++ {
			if steps > 100_000 {
				t.Fatalf("it has not ended at %v, held %v", time.Duration(now), held)
			}
			for ends.nextDue() <= now {
				d.Ended(ends.pop().vu, now)
			}
			if len(toggles) > 0 && now >= toggles[0] {
				held, toggles = !held, toggles[1:]
				d.Hold(held, now)
			}
			for {
				active, free := d.figures.Active, d.open != nil && len(d.open.free) > 0
				x, ok := d.Next(now)
				if !ok {
					break
				}
				if held && x.Number == 1 && p.Jitter == 0 && (active > 0 || free) {
					t.Fatalf("at %v user %d begins, held, while %d are active", time.Duration(now), x.VU, active)
				}
				ends.push(start{due: now + each, vu: x.VU})
			}
			next := min(d.Wake(), ends.nextDue())
			if next <= now && !d.Done() && d.ready.Len() == 0 {
				t.Fatalf("at %v nothing begins, and it is to be asked again at once", time.Duration(now))
			}
			if len(toggles) > 0 {
				next = min(next, max(now+1, toggles[0]))
			}
			now = next
		}
		if p.Rate > 0 {
			want := uint64(0)
			for a := load.NewArrivals(&p, 7, 0, p.VUs); ; want++ {
				if x, ok := a.Next(); !ok || x.Due >= p.Duration {
					break
				}
			}
			if f := d.Figures(); f.Begun+f.Lost != want {
				t.Fatalf("%d iterations begun and %d dropped of %d", f.Begun, f.Lost, want)
			}
		}
	})
}

// Users that a hold put off begin after it, spaced as at its begin, and are not late by it. They are
// counted.
func TestHeldUsersBeginAfterwards(t *testing.T) {
	d := New(Config{Plan: &message.WorkflowPlan{Name: "w", VUs: 5}, VUs: 5, Duration: time.Second, Spacing: 10})
	var dues []int64
	for now := int64(0); now < 100; now += 5 {
		d.Hold(now >= 15 && now < 50, now)
		for x, ok := d.Next(now); ok; x, ok = d.Next(now) {
			dues = append(dues, x.Due)
		}
	}
	if want := []int64{0, 10, 50, 60, 70}; !slices.Equal(dues, want) || d.Figures().Held != 3 {
		t.Errorf("they begin at %v, %d were held; want %v and 3", dues, d.Figures().Held, want)
	}
}

// A run of one iteration each ends although it is held all the time: its users begin one after the other.
func TestARunThatIsHeldFromTheBeginningEnds(t *testing.T) {
	for _, rate := range []uint64{0, 10_000} {
		p := message.WorkflowPlan{VUs: 5, Rate: rate, Queue: true}
		if rate > 0 {
			p.Duration, p.Iterations = time.Second, 5
		}
		d := planned(p, 0, 5)
		d.Hold(true, 0)
		for now := int64(0); now < int64(time.Minute) && !d.Done(); now += int64(10 * time.Millisecond) {
			for x, ok := d.Next(now); ok; x, ok = d.Next(now) {
				d.Ended(x.VU, now)
			}
		}
		if !d.Done() || d.Figures().Begun != 5 {
			t.Errorf("rate %d: done %v, %d of 5 iterations", rate, d.Done(), d.Figures().Begun)
		}
	}
}

// An open workflow drops what finds none of the users that have begun, or lets it wait for one, and
// counts it.
func TestAHoldDropsArrivals(t *testing.T) {
	for _, c := range []struct {
		queue              bool
		begun, lost, waits uint64
	}{{false, 1, 9, 0}, {true, 2, 8, 1}} {
		d := planned(message.WorkflowPlan{VUs: 5, Rate: 10_000, Queue: c.queue, Duration: time.Second}, 0, 5)
		for now := int64(0); now < int64(time.Second); now += int64(10 * time.Millisecond) {
			d.Hold(now > int64(50*time.Millisecond), now)
			if now == int64(990*time.Millisecond) {
				d.Ended(0, now)
			}
			for _, ok := d.Next(now); ok; _, ok = d.Next(now) {
				continue
			}
		}
		d.Stop(int64(time.Second))
		if f := d.Figures(); f.Begun != c.begun || f.Lost != c.lost || f.Waited != c.waits || f.Held == 0 {
			t.Errorf("queue %v: %+v, want %+v", c.queue, f, c)
		}
	}
}
