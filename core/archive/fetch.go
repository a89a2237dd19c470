package archive

import (
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// fetch is a request for a file to one peer after the other.
type fetch struct {
	tickets []uint64
	store   bool // the file stays here
	begun   bool
	at      int // the peer that it asks now
	tries   int // how many peers it asked before
	missing int // peers of this round that lack the file, or sent wrong bytes
	bent    int // those that sent wrong bytes
	until   uint64
	due     node.Instant
}

// Fetch reports Fetched from this member or from a peer's disk, or Failed. The file stays here.
func (a *Archive) Fetch(env node.Env, d message.FileDigest, ticket uint64) {
	a.get(env, d, ticket, true)
}

// Borrow is Fetch for a single look: a file that was not here does not stay.
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

// after returns the first peer behind this member, so that members begin at different peers.
func (a *Archive) after() int {
	i := slices.IndexFunc(a.fellows, func(w *fellow) bool { return w.addr > a.config.Self })
	return max(i, 0)
}

// begin starts the next fetches. Those of Mend are last.
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

// ended removes a finished fetch and starts another one.
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

// fetchOn continues after a chunk.
func (a *Archive) fetchOn(env node.Env, f *file) {
	if !f.fetch.begun {
		return
	}
	f.fetch.due = env.Now().Add(a.config.Retry)
	if f.next >= f.fetch.until {
		a.ask(env, f)
	}
}

// fetchAgain asks the next peer if this one is silent.
func (a *Archive) fetchAgain(env node.Env, f *file) {
	if f.fetch.begun && env.Now() >= f.fetch.due {
		a.fetchNext(env, f, false)
	}
}

// fetchNext asks the next peer, until all have answered that they lack the file, or it has
// asked often enough.
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

// giveUp ends a fetch; a peer's own transfer of the file continues.
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
		return // of a fetch that asks another peer now, or has ended
	}
	if f.next > 0 {
		env.Emit(event.Reached{What: "archive/dropped-while-fetched"})
	}
	a.fetchNext(env, f, true)
}
