package retry

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/node"
)

// A node asks anew and again as it likes, and asks again at once whenever it may. In the span that
// ends with a try again these are at most the share of the limit, or the least number. What the
// budget says to wait is enough, and no longer than a span and a slice.
func TestTriesAgainAreAShareOfWhatIsAsked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := Limit{Span: time.Duration(rapid.Int64Range(1, 30).Draw(t, "span")) * time.Second, Asks: rapid.IntRange(1, 12).Draw(t, "asks"), Least: rapid.IntRange(1, 5).Draw(t, "least")}
		var b Budget
		now := node.Instant(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "begin"))
		var asks, again []node.Instant
		within := func(all []node.Instant, span time.Duration) (n int) {
			for _, at := range all {
				if at > now.Add(-span) {
					n++
				}
			}
			return n
		}
		try := func() bool {
			if b.Wait(l, now) > 0 {
				return false
			}
			b.Again(l, now)
			again = append(again, now)
			if n, first := within(again, l.Span), within(asks, l.Span); n > max(l.Least, first/l.Asks) {
				t.Fatalf("%+v: %d tries again in a span with %d asks", l, n, first)
			}
			return true
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				now = now.Add(time.Duration(rapid.Int64Range(0, int64(l.Span)/3).Draw(t, "passes")))
			case 1:
				for range rapid.IntRange(1, 40).Draw(t, "asks anew") {
					b.Ask(l, now)
					asks = append(asks, now)
				}
			case 2:
				for try() { // a caller that asks again as fast as it may
				}
			default:
				longest := l.Span + l.Span/slices
				w := b.Wait(l, now)
				if w > longest {
					t.Fatalf("%+v: it waits %v, the span is %v", l, w, l.Span)
				}
				if w > 0 && within(again, longest) < l.Least {
					t.Fatalf("%+v: it waits %v, and has asked again %d times", l, w, within(again, longest))
				}
				if now = now.Add(w); !try() {
					t.Fatalf("%+v: it waited %v, and may not ask again", l, w)
				}
			}
		}
	})
}

// A limit of none at all holds every try, and says a wait all the same.
func TestALimitOfNoneWaits(t *testing.T) {
	var b Budget
	if w := b.Wait(Limit{Span: 10 * time.Second}, 0); w != 11*time.Second {
		t.Errorf("it waits %v", w)
	}
}

// What was asked in the slice that has left the span in part allows nothing, and what was asked again
// in it counts.
func TestASliceAtTheEdgeCountsAgainstTheNode(t *testing.T) {
	l := Limit{Span: 10 * time.Second, Asks: 10, Least: 1}
	early, late := node.Instant(950*time.Millisecond), node.Instant(10960*time.Millisecond)
	var b Budget
	for range 20 {
		b.Ask(l, early)
	}
	b.Again(l, late)
	if w := b.Wait(l, late); w == 0 {
		t.Error("two tries again in a span with no ask")
	}
	b = Budget{}
	b.Again(l, early)
	if w := b.Wait(l, late); w != 40*time.Millisecond {
		t.Errorf("it waits %v, want until the slice has passed", w)
	}
}
