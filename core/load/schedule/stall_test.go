package schedule

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/load"
	"hyperscale/core/message"
)

// twin is the simplest model of an open workflow's schedule: a list of due times, a count of
// free users, and the last instant at which the process woke up too late.
type twin struct {
	dues        []int64
	free        int
	late        int64 // arrivals due until then wait; later ones do not
	asked       int64
	begun, lost uint64
}

func newTwin(p *message.WorkflowPlan) *twin {
	w := &twin{free: int(p.VUs)}
	for a := load.NewArrivals(p, 7, 0, p.VUs); ; {
		next, ok := a.Next()
		if !ok || next.Due >= p.Duration {
			return w
		}
		w.dues = append(w.dues, int64(next.Due))
	}
}

// at processes everything that is due at an instant.
func (w *twin) at(now, over int64) {
	if len(w.dues) > 0 && w.dues[0] > w.asked && now-w.dues[0] > int64(5*time.Millisecond) {
		w.late = now
	}
	w.asked = now
	for len(w.dues) > 0 && w.dues[0] <= now {
		switch {
		case w.free > 0:
			w.free--
			w.begun++
		case w.dues[0] <= w.late && now < over:
			return
		default:
			w.lost++
		}
		w.dues = w.dues[1:]
	}
}

// A process owes only what was due while it stood still. After each of its stalls, arrivals
// that are due later and find no free user are dropped again.
func TestStallOwesItsOwnArrivalsOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := message.WorkflowPlan{
			Name: "w", VUs: rapid.Uint64Range(1, 8).Draw(t, "vus"), Rate: rapid.Uint64Range(100_000, 1_000_000).Draw(t, "rate"),
			Poisson: rapid.Bool().Draw(t, "poisson"), Duration: time.Second,
		}
		each := rapid.Int64Range(1, 40).Draw(t, "ms each") * int64(time.Millisecond)
		stalls := rapid.IntRange(0, 2).Draw(t, "stalls")
		d, w := planned(p, 0, p.VUs), newTwin(&p)
		var ends heap
		for now := int64(0); !d.Done(); {
			for ends.nextDue() <= now {
				d.Ended(ends.pop().vu, now)
				w.free++
			}
			for x, ok := d.Next(now); ok; x, ok = d.Next(now) {
				ends.push(start{due: now + each, vu: x.VU})
			}
			w.at(now, d.over)
			if d.figures.Begun != w.begun || d.figures.Lost != w.lost {
				t.Fatalf("at %v %d iterations have begun and %d were dropped, want %d and %d", time.Duration(now), d.figures.Begun, d.figures.Lost, w.begun, w.lost)
			}
			if now = min(d.Wake(), ends.nextDue()); stalls > 0 && now > int64(100*time.Millisecond) && now < int64(p.Duration) {
				stalls--
				now += rapid.Int64Range(0, 200).Draw(t, "stall") * int64(time.Millisecond)
			}
		}
	})
}
