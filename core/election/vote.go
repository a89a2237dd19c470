package election

import (
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// onAsk answers a request for a vote.
func (e *Election) onAsk(env node.Env, from node.Peer, m *message.VoteAsk) {
	again := !m.Pre && m.Term == e.term && e.vote == from.Addr
	free := m.Term > e.term || m.Term == e.term && e.vote == ""
	switch {
	case e.blank() || !e.within(m.Term):
		e.deny(env, from.Addr, m)
	case again && e.state >= saved:
		e.grant(env, from, m)
	case again:
		if !e.saving() {
			e.save(env, put{voter: from, ask: m})
		}
	case !free:
		e.deny(env, from.Addr, m)
	case e.loyal(env.Now()) && !m.Handed:
		e.deny(env, from.Addr, m)
	case m.Pre:
		e.yield(env, from.Addr)
		e.tell(env, from.Addr, &message.VoteAnswer{Group: m.Group, Nonce: m.Nonce, Granted: true, Term: e.term})
	default:
		e.heighten(env, m.Term, "another was asked to stand")
		e.role, e.vote, e.heard = follower, from.Addr, env.Now()
		e.state = cast
		e.wait(env)
		e.save(env, put{voter: from, ask: m})
	}
}

// yield keeps two concurrent candidates from splitting the votes: the first in rank continues.
// It applies to the first try only, because the first in rank may be deaf.
func (e *Election) yield(env node.Env, to node.Addr) {
	if e.role == preCandidate && e.silent <= 1 && to < e.config.Self {
		e.role = follower
		e.wait(env)
	}
}

func (e *Election) deny(env node.Env, to node.Addr, m *message.VoteAsk) {
	e.tell(env, to, &message.VoteAnswer{Group: m.Group, Nonce: m.Nonce, Term: e.term})
}

// grant sends a vote that is on disk.
func (e *Election) grant(env node.Env, to node.Peer, m *message.VoteAsk) {
	e.voted(env, to.ID)
	e.tell(env, to.Addr, &message.VoteAnswer{Group: m.Group, Nonce: m.Nonce, Granted: true, Term: e.term})
}
