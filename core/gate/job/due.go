package job

import (
	"hyperscale/core/gate/places"
	"math"
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Timing holds the settings of a gate that determine a job's deadlines.
type Timing struct {
	CancelRetry   time.Duration // between two sends of a cancellation, or of an abort
	DispatchRetry time.Duration // between two looks at the stream of a dispatch, or two choices of a manager
	Adoption      time.Duration // after a takeover, for a manager to list the subjob
	Guard         time.Duration // how long after a gate last named a subjob its datacenter has surely stopped it
}

// Due is when the job's timer fires: the first time at which a subjob needs an act. A job that
// is queued or has ended has no timer.
func (j *Job) Due(now node.Instant, t Timing) (at node.Instant, ok bool) {
	if j.State.Terminal() || j.State == message.JobQueued {
		return 0, false
	}
	if j.Stopping() {
		return j.Resend.Add(t.CancelRetry), true
	}
	next := min(node.Instant(math.MaxInt64), j.Started.Add(j.RunTimeout))
	if at, enough := EffortOf(j).EndsAt(); enough {
		next = min(next, max(now, at))
	}
	if j.Aborting() {
		next = min(next, max(now, j.Resend.Add(t.CancelRetry)))
	}
	for _, p := range j.Subjobs {
		if p.Ever && p.Phase != Done {
			next = min(next, max(p.Renewed.Add(t.Guard), now.Add(t.DispatchRetry)))
		}
		switch p.Phase {
		case Sent:
			next = min(next, p.Sent.Add(t.DispatchRetry), p.Look)
		case Waiting:
			next = min(next, p.Sent.Add(t.DispatchRetry))
		case Adopting:
			next = min(next, p.Since.Add(t.Adoption))
		}
	}
	return next, true
}

// Duty is an act that a gate owes a subjob.
type Duty uint8

// Duties of a gate.
const (
	Nothing Duty = iota
	Move         // its datacenter is silent: end it, or start it in another one
	Replace      // its manager does not answer: ask another one
	Resend       // send the dispatch again, unless the stream that carried it stands
	Assign       // choose a manager
)

// Duty returns the act that the subjob needs now.
func (p *Subjob) Duty(now node.Instant, t Timing) Duty {
	switch {
	case p.Expired(now, t.Guard):
		return Move
	case p.Phase == Sent && now >= p.Look:
		return Replace
	case p.Phase == Sent && now.Sub(p.Sent) >= t.DispatchRetry:
		return Resend
	case p.Phase == Waiting && now.Sub(p.Sent) >= t.DispatchRetry, p.Phase == Adopting && now.Sub(p.Since) >= t.Adoption:
		return Assign
	}
	return Nothing
}

// Begin returns a new subjob of the job for a datacenter.
func (j *Job) Begin(datacenter string, now node.Instant) *Subjob {
	return &Subjob{Datacenter: datacenter, Fence: j.Fence(), Marks: Marks{Since: now, Sent: now, Renewed: now}, Phase: Saving}
}

// Leave closes the silent datacenter of a subjob, and returns the datacenter that the job moves
// to. If the job names its datacenters, or has left all others, its subjob ends. If there are
// others but none is healthy, the job waits and closes nothing. A job that names no datacenter
// has one subjob at a time.
func (j *Job) Leave(now node.Instant, p *Subjob, in *places.Places) (to *places.Datacenter, ends bool) {
	closed := append(slices.Clone(j.Closed), p.Datacenter)
	to, others := in.Best(now, func(name string) bool { return slices.Contains(closed, name) })
	switch {
	case len(j.Turn.Named) > 0 || !others:
		j.Closed = closed
		return nil, true
	case to == nil:
		return nil, false
	}
	j.Closed = closed
	return to, false
}
