package schedule

import (
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/load"
	"hyperscale/core/message"
)

// begins returns what a schedule begins from then on, if each iteration ends at once.
func begins(d *Iterations, from time.Duration) (dues []int64) {
	for now := int64(from); !d.Done(); now = max(now, d.Wake()) {
		for p, ok := d.Next(now); ok; p, ok = d.Next(now) {
			dues = append(dues, p.Due)
			d.Ended(p.VU, now+1)
		}
		if d.Wake() == Never {
			break
		}
	}
	return dues
}

// Whatever an open workflow's rate is, and wherever its users are cut: what a joined process
// begins and what it counts as missed are the arrivals of its users.
func TestJoinedArrivalsAreThoseThatWereThereBefore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := message.WorkflowPlan{
			Name: "w", VUs: rapid.Uint64Range(1, 9).Draw(t, "vus"), Rate: rapid.Uint64Range(1, 200_000).Draw(t, "rate"),
			Poisson: rapid.Bool().Draw(t, "poisson"), Queue: rapid.Bool().Draw(t, "queue"), Duration: time.Second,
			Iterations: rapid.SampledFrom([]uint64{0, 0, 7, 70}).Draw(t, "iterations"),
		}
		if rapid.Bool().Draw(t, "staged") {
			p.Stages = []message.StagePlan{{Duration: 300 * time.Millisecond, Rate: 50_000}, {Duration: 700 * time.Millisecond, Rate: 1000}}
		}
		first := rapid.Uint64Range(0, p.VUs-1).Draw(t, "first")
		n := rapid.Uint64Range(1, p.VUs-first).Draw(t, "n")
		at := rapid.Int64Range(0, int64(1200*time.Millisecond)).Draw(t, "at")
		all := begins(planned(p, first, n), 0)
		d := planned(p, first, n)
		d.Join(Joined{At: time.Duration(at)})
		rest := begins(d, time.Duration(at))
		missed := 0
		for _, due := range all {
			if due < at {
				missed++
			}
		}
		if f := d.Figures(); f.Missed != uint64(missed) || f.Begun+f.Lost != uint64(len(all)-missed) {
			t.Fatalf("joined at %d: %d missed, %d begun and %d dropped of %d, of which %d were due before", at, f.Missed, f.Begun, f.Lost, len(all), missed)
		}
		for i, due := range rest {
			if due != all[missed+i] {
				t.Fatalf("iteration %d was due at %d, and begins at %d", missed+i, all[missed+i], due)
			}
		}
	})
}

// A limited number of iterations is begun once, however many processes continue it, and
// however many were begun before.
func TestJoinedIterationsAreTheRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := message.WorkflowPlan{Name: "w", VUs: rapid.Uint64Range(1, 20).Draw(t, "vus"), Iterations: rapid.Uint64Range(0, 200).Draw(t, "iterations")}
		first := rapid.Uint64Range(0, p.VUs-1).Draw(t, "first")
		n := rapid.Uint64Range(1, p.VUs-first).Draw(t, "n")
		total := n // each user begins one
		if p.Iterations > 0 {
			total = load.NewSpread(p.VUs).Share(p.Iterations, first, n)
		}
		begun := rapid.Uint64Range(0, total).Draw(t, "begun")
		sum, at := uint64(0), first
		for at < first+n {
			own := rapid.Uint64Range(1, first+n-at).Draw(t, "own")
			d := planned(p, at, own)
			d.Join(Joined{At: time.Second, Begun: begun, FirstVU: first, VUs: n})
			sum += uint64(len(begins(d, time.Second)))
			at += own
		}
		if sum != total-begun {
			t.Fatalf("%d iterations follow %d of %d", sum, begun, total)
		}
	})
}

// Users of a closed workflow with stages are as many as the curve says when a process joins, and
// leave as it falls.
func TestJoinedUsersFollowTheCurve(t *testing.T) {
	p := message.WorkflowPlan{Name: "w", VUs: 10, Duration: 4 * time.Second, Stages: []message.StagePlan{{Duration: time.Second, VUs: 10}, {Duration: 2 * time.Second, VUs: 10}, {Duration: time.Second}}}
	for _, c := range []struct {
		at   time.Duration
		want uint64
	}{{500 * time.Millisecond, 5}, {2 * time.Second, 10}, {3500 * time.Millisecond, 5}, {5 * time.Second, 0}} {
		d := planned(p, 0, 10)
		d.Join(Joined{At: c.at})
		for now := int64(c.at); now < int64(c.at+10*time.Millisecond); now += int64(time.Millisecond) {
			for _, ok := d.Next(now); ok; _, ok = d.Next(now) {
			}
		}
		if got := d.Figures().Active; got != c.want {
			t.Errorf("joined at %v: %d users are active, want %d", c.at, got, c.want)
		}
	}
}

// With iterations of each user, each user begins exactly its own, wherever the users are cut and
// however late each of them begins; with one that joins, no user begins more.
func TestEachUserBeginsItsOwn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := message.WorkflowPlan{
			Name: "w", VUs: rapid.Uint64Range(1, 20).Draw(t, "vus"), UserIterations: rapid.Uint64Range(1, 9).Draw(t, "each"),
			Jitter: rapid.SampledFrom([]time.Duration{0, 1, time.Second}).Draw(t, "jitter"), Think: rapid.SampledFrom([]time.Duration{0, time.Millisecond}).Draw(t, "think"),
		}
		p.Iterations = p.UserIterations * p.VUs
		first := rapid.Uint64Range(0, p.VUs-1).Draw(t, "first")
		n := rapid.Uint64Range(1, p.VUs-first).Draw(t, "n")
		d := planned(p, first, n)
		total, begun := n*p.UserIterations, uint64(0)
		if rapid.Bool().Draw(t, "joins") {
			begun = rapid.Uint64Range(0, total).Draw(t, "begun")
			d.Join(Joined{At: time.Second, Begun: begun, FirstVU: first, VUs: n})
		}
		if got := uint64(len(begins(d, time.Second))); got != total-begun {
			t.Fatalf("%d iterations begin, %d of %d had begun before", got, begun, total)
		}
		for vu := range d.users {
			if d.users[vu].iterations != p.UserIterations {
				t.Fatalf("user %d has begun %d iterations, of %d", vu, d.users[vu].iterations, p.UserIterations)
			}
		}
	})
}

// Users with jitter begin later by less than it, each by another time, and stages lead as many as
// without.
func TestUsersBeginWithJitter(t *testing.T) {
	const jitter = time.Second
	plan := message.WorkflowPlan{Name: "w", VUs: 100, Duration: 5 * time.Second, Jitter: jitter, Stages: []message.StagePlan{{Duration: 2 * time.Second, VUs: 100}, {Duration: 3 * time.Second, VUs: 100}}}
	plain := plan
	plain.Jitter = 0
	dues := func(p message.WorkflowPlan) (all map[int32]int64) {
		all = map[int32]int64{}
		d := planned(p, 0, 100)
		for now := int64(0); now < int64(5*time.Second); now = d.Wake() {
			for next, ok := d.Next(now); ok; next, ok = d.Next(now) {
				all[next.VU] = next.Due
			}
		}
		return all
	}
	with, without := dues(plan), dues(plain)
	late := map[int64]bool{}
	for _, vu := range slices.Sorted(maps.Keys(without)) {
		by := with[vu] - without[vu]
		if by < 0 || by >= int64(jitter) {
			t.Errorf("user %d begins %v later", vu, time.Duration(by))
		}
		late[by] = true
	}
	if len(with) != 100 || len(without) != 100 || len(late) < 90 {
		t.Errorf("%d and %d users begin, with %d delays", len(with), len(without), len(late))
	}
}
