package stats_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/stats"
)

// However often a loop turns: each iteration is in one window, and the time of users is theirs.
func TestActivityAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(t, "from")).Truncate(time.Microsecond)
		a, from := stats.NewActivity(now), now
		var active, begun, dropped, spent uint64
		for range rapid.IntRange(1, 60).Draw(t, "turns") {
			step := time.Duration(rapid.Int64Range(int64(10*time.Millisecond), int64(3*time.Second)).Draw(t, "step")).Truncate(time.Microsecond)
			now += step
			spent += active * uint64(step.Microseconds())
			active = rapid.Uint64Max(1000).Draw(t, "active")
			begun += rapid.Uint64Max(50).Draw(t, "begun")
			dropped += rapid.Uint64Max(5).Draw(t, "dropped")
			a.Turn(now, active, begun, dropped)
		}
		all, err := stats.Intervals(a.Wire())
		if err != nil {
			t.Fatal(err)
		}
		var b, d, us uint64
		for i := range all {
			b, d, us = b+all[i].Started, d+all[i].Failed, us+all[i].OK
			if all[i].Since > now || all[i].Since+a.Wire().Width <= from && all[i].OK > 0 {
				t.Fatalf("a window at %v, from %v to %v", all[i].Since, from, now)
			}
		}
		if b != begun || d != dropped || us != spent {
			t.Fatalf("%d of %d began, %d of %d were dropped, %d of %d us of users", b, begun, d, dropped, us, spent)
		}
	})
}

func TestUsersOfAWindow(t *testing.T) {
	w := stats.Window{Counts: stats.Counts{OK: 2_500_000}}
	if got := w.UsersMilli(time.Second); got != 2500 {
		t.Errorf("2.5 s of users in a second are %d thousandths", got)
	}
	if got := w.UsersMilli(0); got != 0 {
		t.Errorf("of no time: %d", got)
	}
}
