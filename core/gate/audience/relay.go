package audience

import (
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// relayMax bounds the number of remembered results.
const relayMax = 1024

// Relay remembers the results that this gate passed on to the gates that own their jobs, and
// the managers that await the acknowledgements.
type Relay struct {
	passed []passed // oldest first
}

// passed is a result on its way to the gate that owns its job.
type passed struct {
	job    message.JobID
	fence  message.Fence
	stream node.StreamID // of the manager
	at     node.Instant
}

// Len counts the results.
func (r *Relay) Len() int { return len(r.passed) }

// Pass records a result of the manager on a stream. It replaces an earlier one with the same
// fence.
func (r *Relay) Pass(job message.JobID, f message.Fence, s node.StreamID, now node.Instant) {
	r.passed = slices.DeleteFunc(r.passed, func(o passed) bool { return o.job == job && o.fence == f })
	if len(r.passed) >= relayMax {
		r.passed = r.passed[1:]
	}
	r.passed = append(r.passed, passed{job, f, s, now})
}

// Take removes a result, and returns the stream of the manager that waits for its
// acknowledgement.
func (r *Relay) Take(job message.JobID, f message.Fence) (s node.StreamID, ok bool) {
	at := slices.IndexFunc(r.passed, func(o passed) bool { return o.job == job && o.fence == f })
	if at < 0 {
		return 0, false
	}
	s = r.passed[at].stream
	r.passed = slices.Delete(r.passed, at, at+1)
	return s, true
}

// Age drops the results that no owner acknowledged for so long: the owner or its
// acknowledgement is lost. The manager sends each again, perhaps to another gate.
func (r *Relay) Age(now node.Instant, age time.Duration) {
	r.passed = slices.DeleteFunc(r.passed, func(o passed) bool { return now.Sub(o.at) >= age })
}

// Sizes reports the results next to their bound.
func (r *Relay) Sizes(tell node.Tell) { tell("gate/forwarded", len(r.passed), relayMax) }
