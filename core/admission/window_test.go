package admission

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/node"
)

// The window differs from an exact log by less than the previous span's count. It admits what
// fits its estimate, and wait is exactly how long it refuses.
func TestWindowIsItsLog(t *testing.T) {
	const span = 10 * time.Second
	rapid.Check(t, func(t *rapid.T) {
		w := &window{}
		limit := rapid.IntRange(1, 40).Draw(t, "limit")
		var log []node.Instant
		now := node.Instant(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "start"))
		for range rapid.IntRange(1, 120).Draw(t, "requests") {
			now = now.Add(time.Duration(rapid.OneOf(rapid.Int64Range(0, int64(span)/20), rapid.Int64Range(0, int64(3*span))).Draw(t, "pause")))
			passed := w.at(now, span)
			exact, previous := 0, int64(w.previous)
			for _, at := range log {
				if now.Sub(at) < span {
					exact++
				}
			}
			effective := int64(w.current)*int64(span) + previous*int64(span-passed) // in parts of a span
			if wrong := effective - int64(exact)*int64(span); max(wrong, -wrong) > previous*int64(max(passed, span-passed)) {
				t.Fatalf("effective %d/%d, exactly %d, previous %d", effective, span, exact, previous)
			}
			wait := w.wait(now, span, limit)
			if fits := effective+int64(span) <= int64(limit)*int64(span); fits != (wait == 0) {
				t.Fatalf("effective %d/%d of %d, and it waits %v", effective, span, limit, wait)
			}
			if wait == 0 {
				w.add()
				log = append(log, now)
				continue
			}
			early, late := *w, *w
			if early.wait(now.Add(wait-1), span, limit) == 0 || late.wait(now.Add(wait), span, limit) > 0 {
				t.Fatalf("%d + %d of %d at %v of the span: wait of %v is not the least that succeeds", w.current, w.previous, limit, passed, wait)
			}
		}
	})
}
