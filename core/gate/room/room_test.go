package room_test

import (
	"testing"

	"pgregory.net/rapid"

	"hyperscale/core/gate/room"
)

// A bound is reported as near from 80 %, until less than 75 % are used; one that is used up
// always is. Between the two nothing is reported again.
func TestABoundIsReportedOnceWhenNear(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w room.Watch
		i := rapid.IntRange(0, 63).Draw(t, "index")
		limit := rapid.OneOf(rapid.IntRange(1, 12), rapid.IntRange(1, 1<<40)).Draw(t, "limit")
		near := false
		for range rapid.IntRange(1, 20).Draw(t, "looks") {
			used := rapid.IntRange(0, limit+1).Draw(t, "used")
			share := float64(used) / float64(limit)
			was := near
			switch {
			case share >= 0.8:
				near = true
			case share < 0.75:
				near = false
			}
			if changed := w.Look(i, room.Bound{Setting: "a", Used: used, Limit: limit}); changed != (near != was) || w.Near(i) != near {
				t.Fatalf("%d of %d, near before %v: changed %v, near %v, want %v", used, limit, was, changed, w.Near(i), near)
			}
			if w.Near((i + 1) % 64) {
				t.Fatal("another bound is near")
			}
		}
	})
}
