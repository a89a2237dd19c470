package manager

import (
	"testing"

	"hyperscale/core/message"
)

// A worker's free cores are what it told, less what it was given and has not listed yet.
func TestFreeCountsWhatIsNotListed(t *testing.T) {
	f, g := message.Fence{Job: 1, Manager: 1, Attempt: 1}, message.Fence{Job: 1, Manager: 1, Attempt: 2}
	a, b, c := message.SliceID{Ordinal: 1}, message.SliceID{Ordinal: 2}, message.SliceID{Ordinal: 3}
	w := &worker{
		reported: 20, listed: map[message.SliceID]message.Fence{a: f, b: f},
		slices: map[message.SliceID]*slice{a: {id: a, fence: f, cores: 1}, b: {id: b, fence: g, cores: 4}, c: {id: c, fence: f, cores: 8}},
	}
	if got := w.free(); got != 8 {
		t.Errorf("of 20 cores 12 were given since: %d are free", got)
	}
}
