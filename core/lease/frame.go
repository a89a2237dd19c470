package lease

import (
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Bounds of a frame: what the codec takes, less the room that entries need beside their
// records.
const (
	frameEntries = 4096 // of one list
	frameBytes   = 900 << 10
	entryBytes   = 420 // at most, of any entry but its record and its list of generations
)

// outbox holds the frames that wait for one member.
type outbox struct {
	frames []*message.LeaseFrame
	bytes  int                   // of the last of them
	spare  []*message.LeaseFrame // empty: this member's frames to itself reuse the memory
}

// mail holds what waits for each member, this one included.
type mail struct {
	seat
	out      []outbox
	flushing bool                // the flush's timer is set
	waits    bool                // Flush may have something to do
	reuse    *message.LeaseFrame // a frame to this member itself, for reuse; nil for none
}

// room returns the frame that takes one more entry of a list with the given length, and counts
// the entry.
func (r *mail) room(env node.Env, to int, size int, length func(*message.LeaseFrame) int) *message.LeaseFrame {
	o := &r.out[to]
	size += entryBytes
	last := len(o.frames) - 1
	if last < 0 || o.bytes+size > frameBytes || length(o.frames[last]) >= frameEntries {
		o.frames = append(o.frames, r.frame(to))
		o.bytes = 0
		last++
	}
	o.bytes += size
	r.wake(env)
	return o.frames[last]
}

// frame returns an empty frame. A frame to this member itself ends with the Step that reads it,
// so frame reuses it.
func (r *mail) frame(to int) *message.LeaseFrame {
	if to != r.self || r.reuse == nil {
		return &message.LeaseFrame{Group: r.c.Group}
	}
	f := r.reuse
	r.reuse = nil
	*f = message.LeaseFrame{Group: r.c.Group}
	return f
}

// wake makes this member send what waits once this Step has ended.
func (r *mail) wake(env node.Env) {
	r.waits = true
	if !r.flushing {
		r.flushing = true
		env.SetTimer(node.Key(node.PartLease, node.LeaseFlush), 0)
	}
}

func (r *mail) sendPrepare(env node.Env, to int, m message.LeasePrepare) {
	f := r.room(env, to, 0, func(f *message.LeaseFrame) int { return len(f.Prepares) })
	f.Prepares = append(f.Prepares, m)
}

func (r *mail) sendPromise(env node.Env, to int, m message.LeasePromise) {
	f := r.room(env, to, len(m.Accepted.Record), func(f *message.LeaseFrame) int { return len(f.Promises) })
	f.Promises = append(f.Promises, m)
}

func (r *mail) sendRefusal(env node.Env, to int, m message.LeaseRefusal) {
	f := r.room(env, to, 0, func(f *message.LeaseFrame) int { return len(f.Refusals) })
	f.Refusals = append(f.Refusals, m)
}

func (r *mail) sendAccept(env node.Env, to int, m message.LeaseAccept) {
	f := r.room(env, to, len(m.Record)+9*len(m.Rest), func(f *message.LeaseFrame) int { return len(f.Accepts) })
	f.Accepts = append(f.Accepts, m)
}

func (r *mail) sendAccepted(env node.Env, to int, m message.LeaseAccepted) {
	f := r.room(env, to, 0, func(f *message.LeaseFrame) int { return len(f.Accepteds) })
	f.Accepteds = append(f.Accepteds, m)
}

func (r *mail) sendQuery(env node.Env, to int, m message.LeaseQuery) {
	f := r.room(env, to, 0, func(f *message.LeaseFrame) int { return len(f.Queries) })
	f.Queries = append(f.Queries, m)
}

func (r *mail) sendAnswer(env node.Env, to int, m message.LeaseAnswer) {
	f := r.room(env, to, len(m.Accepted.Record), func(f *message.LeaseFrame) int { return len(f.Answers) })
	f.Answers = append(f.Answers, m)
}

func (r *mail) sendConsent(env node.Env, to int, m message.LeaseConsent) {
	f := r.room(env, to, 0, func(f *message.LeaseFrame) int { return len(f.Consents) })
	f.Consents = append(f.Consents, m)
}
