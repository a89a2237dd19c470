package gate

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/core/message"
)

// The queue is in the order in which jobs were accepted, however often some of them leave
// it and come back, and each knows its position.
func TestQueuesKeepTheOrderOfAcceptance(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		env, m := owner()
		var all []*job
		for n := range rapid.IntRange(1, 8).Draw(rt, "jobs") {
			all = append(all, &job{id: message.JobID{byte(n)}, number: uint64(n + 1), ready: true, state: message.JobQueued, shown: message.JobQueued})
		}
		in := map[*job]bool{}
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			j := rapid.SampledFrom(all).Draw(rt, "job")
			if in[j] {
				m.leaveQueue(env, j)
			} else {
				m.enqueue(env, j)
			}
			in[j] = !in[j]
			var want []*job
			for _, o := range all {
				if in[o] {
					want = append(want, o)
				}
			}
			slices.SortFunc(want, func(a, b *job) int { return cmp.Compare(a.number, b.number) })
			if !slices.Equal(m.queue, want) {
				rt.Fatalf("the queue is not in the order of acceptance: %d jobs, want %d", len(m.queue), len(want))
			}
			for i, o := range want {
				if o.position != uint32(i+1) {
					rt.Fatalf("job %d is at %d and believes it is at %d", o.number, i+1, o.position)
				}
			}
			if !in[j] && j.position != 0 {
				rt.Fatalf("job %d left the queue and believes it is at %d", j.number, j.position)
			}
		}
	})
}
