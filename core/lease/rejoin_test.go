package lease

import (
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// A member that lost its disk chooses a generation, and its new disk refuses the write. It asks
// for no register under that generation, and repeats the join until the disk stores one. Then
// it is a member.
func TestAJoinWaitsForItsGenerationOnDisk(t *testing.T) {
	g := newGroup([]string{"a", "b", "c"}, small(), 1)
	for _, h := range g.members {
		h.begin()
	}
	g.advance(time.Second)
	b := g.host("b")
	b.crash(true)
	reads, sets := 0, 0
	g.latency = func(from, _ int, m node.Message) []time.Duration {
		if from == b.index {
			switch m.(type) {
			case *message.LeaseJoinRead:
				reads++
			case *message.LeaseJoinSet:
				sets++
			}
		}
		return []time.Duration{time.Millisecond}
	}
	b.failing = true
	b.begin()
	g.advance(10 * time.Second)
	if sets > 0 || b.r.Speaks() {
		t.Errorf("its disk takes nothing: it asks for registers %d times, and speaks: %v", sets, b.r.Speaks())
	}
	if reads < 4 {
		t.Errorf("in ten seconds it asks for generations %d times: it does not begin anew", reads)
	}
	b.failing = false
	g.advance(5 * time.Second)
	if sets == 0 || !b.r.Speaks() {
		t.Errorf("its disk is well: it asks for registers %d times, and speaks: %v", sets, b.r.Speaks())
	}
}
