package archive

import (
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// fetch is a file that is asked for, of one fellow after the other.
type fetch struct {
	tickets []uint64
	store   bool // keep it
	begun   bool
	at      int // fellow that is asked
	tries   int // fellows that were asked before
	missing int // fellows of this round that do not have it, or not as it was kept
	bent    int // the latter
	until   uint64
	due     node.Instant
}

// Fetch answers Fetched from here or from a fellow's disk, or Failed; the file is
// kept here.
func (a *Archive) Fetch(env node.Env, d message.FileDigest, ticket uint64) {
	a.get(env, d, ticket, true)
}

// Borrow is Fetch for a look: what was not here is not kept.
func (a *Archive) Borrow(env node.Env, d message.FileDigest, ticket uint64) {
	a.get(env, d, ticket, false)
}

func (a *Archive) get(env node.Env, d message.FileDigest, ticket uint64, store bool) {
	f := a.files[d]
	if f != nil && f.bytes != nil {
		f.moved = env.Now()
		a.outcomes = append(a.outcomes, Outcome{Kind: Fetched, File: d, Ticket: ticket, Bytes: f.bytes})
		return
	}
	if len(a.fellows) == 0 {
		a.fail(d, ErrMissing, ticket)
		return
	}
	if f == nil {
		if !a.room(0) {
			a.fail(d, ErrFull, ticket)
			return
		}
		f = a.announce(env, d)
	}
	if f.fetch == nil {
		f.fetch = &fetch{at: a.after()}
		a.asked = append(a.asked, f)
	}
	f.fetch.tickets = append(f.fetch.tickets, ticket)
	f.fetch.store = f.fetch.store || store
	a.begin(env)
	a.arm(env)
}

// after returns the first fellow behind this member: not all ask the same one.
func (a *Archive) after() int {
	i := slices.IndexFunc(a.fellows, func(w *fellow) bool { return w.addr > a.config.Self })
	return max(i, 0)
}

// begin starts those whose turn it is. What Mend wants comes last.
func (a *Archive) begin(env node.Env) {
	for len(a.asked) > 0 && a.fetching < activeMax {
		f := a.asked[0]
		a.asked = a.asked[1:]
		a.start(env, f)
	}
	for len(a.asked) == 0 && len(a.wanted) > 0 && a.fetching < mendMax {
		d := a.wanted[0]
		a.wanted = a.wanted[1:]
		if a.files[d] == nil && a.room(0) {
			f := a.announce(env, d)
			f.fetch = &fetch{at: a.after(), store: true}
			a.start(env, f)
		}
	}
}

func (a *Archive) start(env node.Env, f *file) {
	a.fetching++
	f.fetch.begun = true
	a.ask(env, f)
}

// announce adds a file of which only the name is known.
func (a *Archive) announce(env node.Env, d message.FileDigest) *file {
	f := a.add(d, 0)
	f.moved = env.Now()
	a.arriving[d] = f
	return f
}

// ended takes a fetch off its file and starts another.
func (a *Archive) ended(env node.Env, f *file) {
	if f.fetch.begun {
		a.fetching--
	} else {
		a.asked = slices.DeleteFunc(a.asked, func(o *file) bool { return o == f })
	}
	f.fetch = nil
	a.begin(env)
}

func (a *Archive) ask(env node.Env, f *file) {
	f.fetch.until = f.next + window
	f.fetch.due = env.Now().Add(a.config.Retry)
	a.poster.Post(env, a.fellows[f.fetch.at].addr, &message.FileFetch{Group: a.config.Group, File: f.digest, Offset: f.next})
}

// fetchOn goes on after a chunk.
func (a *Archive) fetchOn(env node.Env, f *file) {
	if !f.fetch.begun {
		return
	}
	f.fetch.due = env.Now().Add(a.config.Retry)
	if f.next >= f.fetch.until {
		a.ask(env, f)
	}
}

// fetchAgain asks the next fellow when this one is silent.
func (a *Archive) fetchAgain(env node.Env, f *file) {
	if f.fetch.begun && env.Now() >= f.fetch.due {
		a.fetchNext(env, f, false)
	}
}

// fetchNext asks the next fellow, until all have said that they do not have it, or
// were asked often enough.
func (a *Archive) fetchNext(env node.Env, f *file, missing bool) {
	x := f.fetch
	if missing {
		x.missing++
	}
	x.tries++
	x.at = (x.at + 1) % len(a.fellows)
	if x.tries%len(a.fellows) == 0 {
		why := ErrUnreachable
		switch {
		case x.missing == len(a.fellows) && x.bent > 0:
			why = ErrDigest
		case x.missing == len(a.fellows):
			why = ErrMissing
		}
		if why != ErrUnreachable || x.tries >= fetchRounds*len(a.fellows) {
			a.giveUp(env, f, why)
			return
		}
		x.missing, x.bent = 0, 0
	}
	a.ask(env, f)
}

// giveUp ends a fetch; what a fellow is sending meanwhile goes on arriving.
func (a *Archive) giveUp(env node.Env, f *file, why error) {
	if len(f.askers) == 0 {
		a.forget(env, f, why)
		return
	}
	a.fail(f.digest, why, f.fetch.tickets...)
	a.ended(env, f)
}

// onFetch answers with a window of chunks.
func (a *Archive) onFetch(env node.Env, from node.Peer, m *message.FileFetch) {
	f := a.files[m.File]
	if f == nil || f.bytes == nil {
		a.poster.Post(env, from.Addr, &message.FileMissing{Group: a.config.Group, File: m.File})
		return
	}
	if m.Offset >= f.length {
		a.ignore(env, from, m, "it asks for what is beyond the file")
		return
	}
	for sent := uint64(0); sent < window && m.Offset+sent < f.length; {
		sent += a.chunk(env, from.Addr, f, m.Offset+sent, 0)
	}
}

func (a *Archive) onMissing(env node.Env, i int, m *message.FileMissing) {
	f := a.files[m.File]
	if f == nil || f.fetch == nil || !f.fetch.begun || f.fetch.at != i {
		return // of a fetch that has gone on or ended
	}
	if f.next > 0 {
		env.Emit(event.Reached{What: "archive/dropped-while-fetched"})
	}
	a.fetchNext(env, f, true)
}
