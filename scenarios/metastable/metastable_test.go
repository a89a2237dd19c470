package metastable

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The four runs of the paper's artifact have their published outcomes, and all recover with guards.
func TestPublishedRunsComeOutAsPublished(t *testing.T) {
	want := []bool{true, false, true, true}
	for i, r := range PublishedRuns() {
		if got := r.Recovers(); got != want[i] {
			t.Errorf("%s: recovers %v, published is %v", r.Name, got, want[i])
		}
		if r.Guards = true; !r.Recovers() {
			t.Errorf("%s: does not recover, though the store drops what has timed out", r.Name)
		}
	}
}

// sentMost bounds what is sent in 10 s for a thousand asked.
const sentMost = 1100

// Workers that reconnect to a manager that is behind with their renewals send no more of them. Without
// guards the cell recovers, too, but some send more.
func TestReconnectsMultiplyNothing(t *testing.T) {
	c := Cell{Loop: "reconnect and renewal", Trigger: Capacity, Depth: 16, Length: 10 * time.Second, Guards: true}
	if o := Play(c); !o.Good() || o.Peak > sentMost {
		t.Errorf("%+v does not recover, or sends more than 1.1 times what is asked: %+v", c, o)
	}
}

// A sample of the grid: with guards each cell recovers within its bound, without them none does.
func TestGuardsEndMetastableFailures(t *testing.T) {
	for _, c := range []Cell{
		{Loop: "retry", Trigger: Capacity, Depth: 16, Length: 3 * time.Second},
		{Loop: "retry", Trigger: Spike, Depth: 8, Length: 3 * time.Second},
		{Loop: "retry", Trigger: Restart, Depth: 1, Length: 10 * time.Second},
		{Loop: "dead work", Trigger: Capacity, Depth: 16, Length: 10 * time.Second},
		{Loop: "dead work", Trigger: Spike, Depth: 8, Length: 3 * time.Second},
		{Loop: "re-dispatch", Trigger: Capacity, Depth: 16, Length: 3 * time.Second},
		{Loop: "re-dispatch", Trigger: Spike, Depth: 8, Length: 10 * time.Second},
		{Loop: "re-dispatch", Trigger: Restart, Depth: 1, Length: 10 * time.Second},
		{Loop: "re-dispatch", Trigger: Partition, Depth: 100, Length: 10 * time.Second},
	} {
		bare := Play(c)
		if bare.Good() || bare.Before < 990 {
			t.Errorf("%+v recovers after %v without guards: %+v", c, bare.Took, bare)
		}
		c.Guards = true
		guarded := Play(c)
		if !guarded.Good() || guarded.Peak > sentMost {
			t.Errorf("%+v does not recover, or sends more than 1.1 times what is asked: %+v", c, guarded)
		}
		if c.Loop == "dead work" {
			if diff := cmp.Diff(guarded, Play(c)); diff != "" {
				t.Errorf("two runs differ:\n%s", diff)
			}
		}
	}
}
