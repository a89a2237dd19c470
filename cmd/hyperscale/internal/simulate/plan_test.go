package simulate

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hyperscale/scenarios"
)

// planOf makes worlds a, b, c ... that cost so much each; zero: unknown.
func planOf(owed uint64, costs ...time.Duration) *plan {
	p := &plan{}
	for i, c := range costs {
		name := string(rune('a' + i))
		p.worlds = append(p.worlds, &world{scenario: scenarios.Scenario{Name: name, Virtual: time.Duration(i+1) * time.Minute}, owed: owed, took: cost{guess: c}})
	}
	return p
}

// chosen plays n runs at most and names their worlds.
func chosen(p *plan, n int, left time.Duration) string {
	var names strings.Builder
	for range n {
		w := p.choose(left)
		if w == nil {
			break
		}
		names.WriteString(w.scenario.Name)
	}
	return names.String()
}

func TestOwedRunsComeInRoundsTheSlowestFirst(t *testing.T) {
	for _, tc := range []struct {
		what string
		plan *plan
		want string
	}{
		{"by cost", planOf(2, 1*time.Second, 3*time.Second, 2*time.Second), "bcabca"},
		{"unknown costs first, the longest world of them before the others", planOf(1, 0, 3*time.Second, 0), "cab"},
	} {
		if got := chosen(tc.plan, 99, -1); got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.what, got, tc.want)
		}
		if n := tc.plan.owed(); n != 0 {
			t.Errorf("%s: %d runs are still owed", tc.what, n)
		}
	}
	resumed := planOf(2, time.Second, time.Second)
	resumed.worlds[0].owed, resumed.worlds[0].played = 1, 5
	if got := chosen(resumed, 99, -1); got != "bba" {
		t.Errorf("what was played rarely: got %s, want bba", got)
	}
}

// What is owed is played whatever the budget says; the rest only as it fits.
func TestABudgetBoundsWhatIsNotOwed(t *testing.T) {
	p := planOf(1, 9*time.Second, 3*time.Second)
	p.endless = true
	if got := chosen(p, 2, 0); got != "ab" {
		t.Errorf("owed beyond the budget: got %q, want ab", got)
	}
	if got := chosen(p, 3, 4*time.Second); got != "bbb" {
		t.Errorf("with 4 s left: got %q, want what takes 3 s", got)
	}
	if got := chosen(p, 3, time.Second); got != "" {
		t.Errorf("with 1 s left: got %q, want nothing", got)
	}
	p.worlds[0].took = cost{}
	if got := chosen(p, 3, 0); got != "" {
		t.Errorf("with nothing left, and a world of unknown cost: got %q, want nothing", got)
	}
}

// A cheap world is played more often than a dear one, which still gets more time; a
// failure has a world played more often.
func TestABudgetGoesToWhatIsRareFailedOrCheap(t *testing.T) {
	for _, tc := range []struct {
		what   string
		failed int
		costs  [2]time.Duration
		a, b   int
	}{
		{"equal worlds", 0, [2]time.Duration{time.Second, time.Second}, 50, 50},
		{"a costs a hundredth", 0, [2]time.Duration{10 * time.Millisecond, time.Second}, 91, 9},
		{"a failed thrice", 3, [2]time.Duration{time.Second, time.Second}, 80, 20},
		{"a failed always", 1000, [2]time.Duration{time.Second, time.Second}, 91, 9},
	} {
		p := planOf(0, tc.costs[0], tc.costs[1])
		p.endless, p.worlds[0].failed = true, tc.failed
		got := chosen(p, 100, time.Hour)
		if a := strings.Count(got, "a"); a < tc.a-1 || a > tc.a+1 {
			t.Errorf("%s: a was played %d times of 100, want %d", tc.what, a, tc.a)
		}
	}
}

func TestPlanGuessesWhatIsLeft(t *testing.T) {
	p := planOf(10, 0, 0)
	if _, known := p.left(); known {
		t.Error("it guesses, and knows no cost")
	}
	p.worlds[0].took.add(2 * time.Second)
	p.worlds[0].took.add(0)
	if got, _ := p.left(); got.Round(time.Millisecond) != 20*1000500*time.Microsecond {
		t.Errorf("got %v, want 20 runs of 1.0005 s", got)
	}
	if got := fmt.Sprint(len(p.slowest(5)), len(p.slowest(0))); got != "1 0" {
		t.Errorf("slowest: got %s, want 1 0", got)
	}
}
