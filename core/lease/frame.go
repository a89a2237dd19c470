package lease

import (
	"slices"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Bounds of a frame: what the codec takes, with room for what entries need
// beside their records.
const (
	frameEntries = 4096 // of one list
	frameBytes   = 900 << 10
	entryBytes   = 420 // at most, of any entry but its record and its list of generations
)

// outbox is what waits for one member.
type outbox struct {
	frames []*message.LeaseFrame
	bytes  int                   // of the last of them
	spare  []*message.LeaseFrame // empty: its memory serves the next frames of this member to itself
}

// room returns the frame that takes one more entry of a list that has a given
// length, and counts the entry.
func (r *Registers) room(env node.Env, to int, size int, length func(*message.LeaseFrame) int) *message.LeaseFrame {
	o := &r.out[to]
	size += entryBytes
	last := len(o.frames) - 1
	if last < 0 || o.bytes+size > frameBytes || length(o.frames[last]) >= frameEntries {
		o.frames = append(o.frames, &message.LeaseFrame{Group: r.c.Group})
		o.bytes = 0
		last++
	}
	o.bytes += size
	r.wake(env)
	return o.frames[last]
}

// wake has what waits sent when this Step is over.
func (r *Registers) wake(env node.Env) {
	if !r.flushing {
		r.flushing = true
		env.SetTimer(node.Key(node.PartLease, node.LeaseFlush), 0)
	}
}

func (r *Registers) sendPrepare(env node.Env, to int, m message.LeasePrepare) {
	f := r.room(env, to, 0, func(f *message.LeaseFrame) int { return len(f.Prepares) })
	f.Prepares = append(f.Prepares, m)
}

func (r *Registers) sendPromise(env node.Env, to int, m message.LeasePromise) {
	f := r.room(env, to, len(m.Accepted.Record), func(f *message.LeaseFrame) int { return len(f.Promises) })
	f.Promises = append(f.Promises, m)
}

func (r *Registers) sendRefusal(env node.Env, to int, m message.LeaseRefusal) {
	f := r.room(env, to, 0, func(f *message.LeaseFrame) int { return len(f.Refusals) })
	f.Refusals = append(f.Refusals, m)
}

func (r *Registers) sendAccept(env node.Env, to int, m message.LeaseAccept) {
	f := r.room(env, to, len(m.Record)+9*len(m.Rest), func(f *message.LeaseFrame) int { return len(f.Accepts) })
	f.Accepts = append(f.Accepts, m)
}

func (r *Registers) sendAccepted(env node.Env, to int, m message.LeaseAccepted) {
	f := r.room(env, to, 0, func(f *message.LeaseFrame) int { return len(f.Accepteds) })
	f.Accepteds = append(f.Accepteds, m)
}

func (r *Registers) sendQuery(env node.Env, to int, m message.LeaseQuery) {
	f := r.room(env, to, 0, func(f *message.LeaseFrame) int { return len(f.Queries) })
	f.Queries = append(f.Queries, m)
}

func (r *Registers) sendAnswer(env node.Env, to int, m message.LeaseAnswer) {
	f := r.room(env, to, len(m.Accepted.Record), func(f *message.LeaseFrame) int { return len(f.Answers) })
	f.Answers = append(f.Answers, m)
}

func (r *Registers) sendConsent(env node.Env, to int, m message.LeaseConsent) {
	f := r.room(env, to, 0, func(f *message.LeaseFrame) int { return len(f.Consents) })
	f.Consents = append(f.Consents, m)
}

// Flush sends what waits: first to this member itself, in memory, then the write
// that it led to, then to the others. A role may call it last in its Step; without
// that, it happens in a timer's firing right after.
func (r *Registers) Flush(env node.Env) {
	for len(r.out[r.self].frames) > 0 && r.standing.speaks() {
		own := r.out[r.self].frames
		r.out[r.self] = outbox{frames: r.out[r.self].spare}
		for _, f := range own {
			f.Gens = r.gens
			r.onFrame(env, r.self, f)
		}
		clear(own)
		r.out[r.self].spare = own[:0]
	}
	r.write(env)
	var gens []uint64 // one copy for all of them: what is sent is never changed
	for i := range r.out {
		o := &r.out[i]
		if len(o.frames) == 0 {
			continue
		}
		if r.standing.speaks() && r.peers[i].greeted {
			if gens == nil {
				gens = slices.Clone(r.gens)
			}
			for _, f := range o.frames {
				f.Gens = gens
				r.post.Post(env, r.set[i], f)
			}
		}
		clear(o.frames)
		*o = outbox{frames: o.frames[:0]}
	}
}

// onFrame handles all that one member has said. What it asks is judged by the
// acceptor's rules whatever the age of the frame; what it answers counts only
// when its disk has not been lost since.
func (r *Registers) onFrame(env node.Env, from int, f *message.LeaseFrame) {
	if !r.learnGens(env, f.Gens) {
		return
	}
	for i := range f.Prepares {
		r.onPrepare(env, from, &f.Prepares[i])
	}
	for i := range f.Accepts {
		r.onAccept(env, from, &f.Accepts[i])
	}
	for i := range f.Queries {
		r.onQuery(env, from, &f.Queries[i])
	}
	for i := range f.Consents {
		r.onConsent(env, from, &f.Consents[i])
	}
	answers := len(f.Promises) + len(f.Refusals) + len(f.Accepteds) + len(f.Answers)
	if answers == 0 {
		return
	}
	if f.Gens[from] < r.gens[from] {
		reached(env, "lease/old-answer-dropped")
		return
	}
	for i := range f.Promises {
		r.onPromise(env, from, &f.Promises[i])
	}
	for i := range f.Refusals {
		r.onRefusal(env, from, &f.Refusals[i])
	}
	for i := range f.Accepteds {
		r.onAccepted(env, from, &f.Accepteds[i])
	}
	for i := range f.Answers {
		r.onAnswer(env, from, &f.Answers[i])
	}
}
