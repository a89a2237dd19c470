package election

import (
	"encoding/binary"
	"slices"
	"strings"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// put is a write of term and vote under way, and what follows it.
type put struct {
	term  uint64
	vote  node.Addr
	voter node.Peer        // who is told, if anybody
	ask   *message.VoteAsk //
	then  func(env node.Env, term uint64)
	of    func(env node.Env, err error) // of another record than the vote's
}

func (e *Election) key() string { return "election/" + e.config.Group }

// save puts term and vote. A blank voter puts nothing before it has joined: its
// record says that it remembers.
func (e *Election) save(env node.Env, p put) {
	if e.blank && p.then == nil {
		return
	}
	p.term, p.vote = e.term, e.vote
	vote := node.Record{Key: e.key(), Value: append(binary.BigEndian.AppendUint64(nil, e.term), e.vote...)}
	if e.member == 0 {
		e.write(env, p, vote)
		return
	}
	e.write(env, p, node.Record{Key: e.epochKey(), Value: binary.BigEndian.AppendUint64(nil, e.member)}, vote)
}

func (e *Election) write(env node.Env, p put, records ...node.Record) {
	e.token++
	t := node.TokenOf(node.PartElection, e.token)
	e.puts[t] = p
	env.Store().Put(records, t)
}

// saving says that term and vote as they are now are on their way to the disk.
func (e *Election) saving() bool {
	//lint:orderfree whether there is one
	for _, p := range e.puts {
		if p.of == nil && p.term == e.term && p.vote == e.vote {
			return true
		}
	}
	return false
}

// Stored handles a completion of the store.
func (e *Election) Stored(env node.Env, in *node.Input) {
	p, ok := e.puts[in.Token]
	if !ok {
		return
	}
	delete(e.puts, in.Token)
	if in.Err != nil {
		env.Emit(event.StoreFailed{What: "vote in " + e.config.Group, Err: in.Err.Error()})
	}
	if p.of != nil {
		p.of(env, in.Err)
		return
	}
	if in.Err != nil {
		if e.role == candidate && p.term == e.term {
			e.role = follower // the timeout tries again
		}
		return
	}
	if p.term != e.term || p.vote != e.vote {
		return // it is on disk, and of the past: nobody waits for it any more
	}
	e.saved = true
	if p.then != nil {
		p.then(env, p.term)
	}
	if p.ask != nil {
		e.grant(env, p.voter, p.ask)
	}
}

// voted tells observers once an incarnation.
func (e *Election) voted(env node.Env, id node.ID) {
	if !e.told {
		e.told = true
		env.Emit(event.Voted{Group: e.config.Group, Term: e.term, For: id})
	}
}

func (e *Election) load(env node.Env) {
	e.blank = true
	for _, r := range env.Store().Load(e.key()) {
		of, admits := strings.CutPrefix(r.Key, e.admissionKey(""))
		switch {
		case r.Key == e.key() && len(r.Value) >= 8:
			e.term, e.vote = binary.BigEndian.Uint64(r.Value), node.Addr(r.Value[8:])
			e.blank, e.saved = false, true
		case r.Key == e.key():
			e.torn = true
		case r.Key == e.epochKey() && len(r.Value) == 8:
			e.member = binary.BigEndian.Uint64(r.Value)
		case r.Key == e.passKey() && len(r.Value) == 16:
			e.pass = pass{number: binary.BigEndian.Uint64(r.Value), epoch: binary.BigEndian.Uint64(r.Value[8:]), saved: true}
		case admits && slices.Contains(e.others, node.Addr(of)):
			e.admitted[node.Addr(of)] = admissionOf(r.Value)
		}
	}
	if e.blank {
		e.member = 0
	}
	if e.torn || e.pass.epoch <= e.member {
		e.pass = pass{} // whoever showed it has been a voter
	}
}
