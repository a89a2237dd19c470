package manager

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// A worker that refuses a shard twice, as no other has cores, appears once in Failed.
func TestFailedWorkersAreListedOnce(t *testing.T) {
	d := newDesk(t, nil, "w1")
	s := d.submit(2)
	for n := range 3 {
		if d.attempt("w1") == nil {
			t.Fatalf("after %d refusals the shard is not dispatched again", n)
		}
		d.refuse("w1", message.CodeQueueFull)
		d.live(30, nil, "w1")
	}
	if diff := cmp.Diff([]node.ID{"w1"}, s.Workflows[0].Shards[0].Failed); diff != "" {
		t.Errorf("workers that failed the shard (-want +got):\n%s", diff)
	}
}
