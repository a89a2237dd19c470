package stats

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
)

func drawUsage(t *rapid.T, name string) message.Usage {
	size := rapid.OneOf(rapid.Uint64Range(0, 4), rapid.Uint64())
	return message.Usage{
		CPU: time.Duration(rapid.Int64Range(0, math.MaxInt64).Draw(t, name+" cpu")), Memory: size.Draw(t, name+" memory"), MemoryMax: size.Draw(t, name+" budget"),
		Pressed: rapid.Bool().Draw(t, name+" pressed"), Throttles: rapid.Uint32().Draw(t, name+" throttles"), Throttled: time.Duration(rapid.Int64Range(0, 9).Draw(t, name+" throttled")),
	}
}

// TestUsagesAddUpInAnyOrder: STATS-2, of what executors used.
func TestUsagesAddUpInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := drawUsage(t, "a"), drawUsage(t, "b"), drawUsage(t, "c")
		if x, y := AddUsage(a, b), AddUsage(b, a); x != y && (x.Memory != y.Memory || x.MemoryMax != y.MemoryMax || x.CPU != y.CPU || x.Throttled != y.Throttled) {
			t.Fatalf("%+v and %+v: %+v, or %+v", a, b, x, y)
		}
		if x, y := AddUsage(AddUsage(a, b), c), AddUsage(a, AddUsage(b, c)); x != y {
			t.Fatalf("%+v, %+v, %+v: %+v, or %+v", a, b, c, x, y)
		}
		if AddUsage(message.Usage{}, a) != a {
			t.Fatalf("%+v with nothing is %+v", a, AddUsage(message.Usage{}, a))
		}
	})
}

// TestTheExecutorNearestToItsBudgetIsTold: not the one with most memory.
func TestTheExecutorNearestToItsBudgetIsTold(t *testing.T) {
	small, large := message.Usage{Memory: 90, MemoryMax: 100, Throttled: time.Second}, message.Usage{Memory: 1000, MemoryMax: 2000, Throttled: time.Minute}
	if u := AddUsage(large, small); u.Memory != 90 || u.MemoryMax != 100 || u.Throttled != time.Minute {
		t.Errorf("got %+v", u)
	}
}
