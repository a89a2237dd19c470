package schedule

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
)

// For any load, and however early the run is cancelled: each user that begins leaves once and
// takes a step of the mix each time. None is active at the end.
func TestEveryUserLeavesOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := message.WorkflowPlan{Name: "w", VUs: rapid.Uint64Range(1, 12).Draw(t, "vus"), Weighted: rapid.Bool().Draw(t, "weighted")}
		p.Duration = time.Duration(rapid.Int64Range(0, int64(time.Second)).Draw(t, "duration"))
		switch rapid.IntRange(0, 3).Draw(t, "load") {
		case 0:
			p.Iterations = rapid.Uint64Range(1, 50).Draw(t, "iterations")
		case 1:
			p.Rate, p.Iterations = rapid.Uint64Range(1, 200_000).Draw(t, "rate"), rapid.Uint64Range(0, 100).Draw(t, "iterations")
			p.Duration += time.Millisecond
		case 2:
			for range 3 {
				p.Stages = append(p.Stages, message.StagePlan{Duration: p.Duration / 3, VUs: rapid.Uint64Range(0, p.VUs).Draw(t, "to")})
			}
			p.Duration += time.Millisecond
		}
		for i := range 3 {
			s := message.StepPlan{Name: string(rune('a' + i)), Kind: message.StepRequest}
			if p.Weighted {
				s.Weight = uint32(i)
			}
			p.Steps = append(p.Steps, s)
		}
		cancel := rapid.Int64Range(0, int64(2*time.Second)).Draw(t, "cancel")
		each := rapid.Int64Range(1, int64(100*time.Millisecond)).Draw(t, "each")
		d := New(Config{Plan: &p, VUs: p.VUs, Seed: 7, Duration: p.Duration})
		var ends heap
		here := map[int32]bool{}
		leave := func() {
			for _, vu := range d.Left() {
				if !d.Open() && !here[vu] {
					t.Fatalf("user %d leaves, but is not here", vu)
				}
				delete(here, vu)
			}
		}
		now := int64(0)
		for !d.Done() && now < cancel {
			for ends.nextDue() <= now {
				d.Ended(ends.pop().vu, now)
				leave()
			}
			if d.ready.Len() > 0 && !d.Spent() && d.Wake() > now {
				t.Fatalf("a user is ready at %d, and the next iteration begins at %d", now, d.Wake())
			}
			for x, ok := d.Next(now); ok; x, ok = d.Next(now) {
				leave()
				here[x.VU] = true
				if p.Weighted && (x.Step < 1 || x.Step > 2) || !p.Weighted && x.Step != -1 {
					t.Fatalf("it takes step %d", x.Step)
				}
				ends.push(start{due: now + each, vu: x.VU})
			}
			leave()
			now = min(d.Wake(), ends.nextDue())
		}
		under := d.busy
		d.Abandon(now)
		leave()
		if !d.Spent() || !d.Done() || d.Wake() != Never || d.Figures().Active != 0 || uint64(len(here)) != under {
			t.Fatalf("spent %v, done %v, %d users are left of %d under way: %+v", d.Spent(), d.Done(), len(here), under, d.Figures())
		}
		if _, ok := d.Next(now); ok {
			t.Fatal("an iteration begins behind the end")
		}
	})
}
