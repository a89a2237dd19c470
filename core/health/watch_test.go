package health

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/node"
)

// A process is stuck when it has been silent for the bound, all that it was granted in this silence,
// and a third of the bound: not a millisecond earlier. Grants halve, only progress brings another, and
// all of a life are less than the bound.
func TestAWatchFollowsItsSilence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		silence := time.Duration(rapid.IntRange(3, 60).Draw(t, "seconds")) * time.Second
		w := Watch{}
		var quiet, extended, sum time.Duration
		begun, grants, last := false, 0, uint32(0)
		t.Repeat(map[string]func(*rapid.T){
			"word": func(*rapid.T) { w.Heard(); begun, quiet, extended = true, 0, 0 },
			"ask": func(t *rapid.T) {
				done := rapid.Uint32Range(0, 8).Draw(t, "done")
				got, why := w.Ask(silence, done)
				want := time.Duration(0)
				if grants < 5 && (grants == 0 || done > last) {
					want = silence
					for range grants + 1 {
						want /= 2
					}
					want = max(want, time.Second)
					grants, last = grants+1, done
				}
				if got != want || (why == "") != (want > 0) {
					t.Fatalf("ask %d for %d: %v (%s), want %v", grants, done, got, why, want)
				}
				extended, sum = extended+got, sum+got
			},
			"pass": func(t *rapid.T) {
				bound := silence
				if !begun {
					bound = 5 * silence
				}
				awake := rapid.SampledFrom([]time.Duration{500 * time.Millisecond, bound / 3, bound, bound + extended + silence/3 - quiet, bound + extended + silence/3 - quiet - 1, bound + extended - quiet}).Draw(t, "awake")
				awake = max(0, awake)
				quiet += awake
				want := Moving
				//lint:orderfree a maximum
				for state, from := range map[WatchState]time.Duration{Stalled: bound / 3, Extended: bound, Grace: bound + extended, Stuck: bound + extended + silence/3} {
					if quiet >= from {
						want = max(want, state)
					}
				}
				if got := w.Pass(silence, awake); got != want {
					t.Fatalf("after %v of %v, extended by %v, begun %v, it is %v, want %v", quiet, silence, extended, begun, got, want)
				}
			},
			"": func(t *rapid.T) {
				if grants == 5 && silence == 30*time.Second && sum != 29125*time.Millisecond {
					t.Fatalf("five grants are %v", sum)
				}
			},
		})
	})
}

// The grants of production, in a row.
func TestExtensionsHalve(t *testing.T) {
	w := Watch{}
	sum := time.Duration(0)
	for i, want := range []time.Duration{15 * time.Second, 7500 * time.Millisecond, 3750 * time.Millisecond, 1875 * time.Millisecond, time.Second, 0} {
		got, _ := w.Ask(30*time.Second, uint32(i+1))
		if sum += got; got != want {
			t.Errorf("grant %d is %v, want %v", i+1, got, want)
		}
	}
	if sum != 29125*time.Millisecond {
		t.Errorf("all are %v", sum)
	}
}

// A timer that is late counts nothing: the node itself was stopped.
func TestALateTickCountsNothing(t *testing.T) {
	//lint:orderfree each by itself
	for late, want := range map[time.Duration]time.Duration{
		0: 500 * time.Millisecond, 499 * time.Millisecond: 999 * time.Millisecond, 500 * time.Millisecond: 0, time.Minute: 0,
	} {
		var k Tick
		k.Arm(node.Instant(time.Hour), 500*time.Millisecond)
		if got := k.Awake(node.Instant(time.Hour).Add(500*time.Millisecond + late)); got != want {
			t.Errorf("a timer that is %v late counts %v, want %v", late, got, want)
		}
	}
}
