package audience_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/gate/audience"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// TestRelaysGoBackOnce plays results, acknowledgements and ages. A relay returns the stream
// that a model remembers, once for each result, and none after its age.
func TestRelaysGoBackOnce(t *testing.T) {
	const age = 10 * time.Second
	type key struct {
		job   message.JobID
		fence message.Fence
	}
	type sent struct {
		stream node.StreamID
		at     node.Instant
	}
	rapid.Check(t, func(t *rapid.T) {
		var r audience.Relay
		model := map[key]sent{}
		now := node.Instant(time.Hour)
		for n := range rapid.IntRange(1, 40).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 4).Draw(t, "seconds")) * time.Second)
			k := key{message.JobID{rapid.Byte().Draw(t, "job") % 3}, message.Fence{JobEpoch: rapid.Uint64Range(1, 2).Draw(t, "epoch")}}
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				r.Age(now, age)
				//lint:orderfree each goes or stays by itself
				for k, s := range model {
					if now.Sub(s.at) >= age {
						delete(model, k)
					}
				}
			case 1:
				s, ok := r.Take(k.job, k.fence)
				if want, known := model[k]; ok != known || s != want.stream {
					t.Fatalf("%v goes back on stream %d, %v: want %d, %v", k, s, ok, want.stream, known)
				}
				delete(model, k)
			default:
				s := node.StreamID(n + 1)
				r.Pass(k.job, k.fence, s, now)
				model[k] = sent{s, now}
			}
			if r.Len() != len(model) {
				t.Fatalf("%d results are remembered, want %d", r.Len(), len(model))
			}
		}
	})
}

// A relay drops the oldest result if one more would be too many.
func TestRelaysAreBounded(t *testing.T) {
	var r audience.Relay
	const most = 1024
	for n := range uint64(most + 1) {
		r.Pass(message.JobID{}, message.Fence{JobEpoch: n}, 1, 1)
	}
	if _, ok := r.Take(message.JobID{}, message.Fence{}); ok || r.Len() != most {
		t.Errorf("%d results are remembered, the oldest is: %v", r.Len(), ok)
	}
}
