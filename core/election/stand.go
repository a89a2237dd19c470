package election

import (
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// begin starts a voter: a lone one does not wait for a leader.
func (e *Election) begin(env node.Env) {
	if len(e.others) == 0 {
		e.onTimeout(env)
	} else {
		e.wait(env)
	}
}

func (e *Election) onTimeout(env node.Env) {
	if e.role == leader || e.blank() {
		return
	}
	e.role = follower
	e.silent++
	e.follow(env, node.Peer{})
	e.wait(env)
	if e.stands(env.Now()) {
		e.preVote(env)
	}
}

// preVote asks who would vote. Nothing durable changes.
func (e *Election) preVote(env node.Env) {
	e.role = preCandidate
	e.ask(env, env.Now(), false)
	e.count(env)
}

// stand begins a candidacy: this node's own vote goes to disk before any request.
func (e *Election) stand(env node.Env, handed bool) {
	now := env.Now()
	e.role = candidate
	e.term++
	if len(e.others) == 0 { // no peer remembers what a lost disk forgot
		e.term = max(e.term, env.Self().Incarnation)
	}
	e.vote, e.state, e.counter = e.config.Self, cast, 0
	e.round = round{nonce: e.round.nonce, handed: handed}
	e.wait(env)
	e.save(env, put{then: asksOthers, began: now, handed: handed})
}

// ask begins a round of requests.
func (e *Election) ask(env node.Env, began node.Instant, handed bool) {
	e.round = round{
		nonce: e.round.nonce + 1, handed: handed,
		deadline: began.Add(e.config.TimeoutMax), granted: map[node.Addr]bool{},
	}
	e.askAgain(env)
}

// askAgain repeats the request to the voters that have not answered. A voter that denied a
// pre-vote because it had just heard a leader may grant it now.
func (e *Election) askAgain(env node.Env) {
	if e.blank() {
		e.joinAgain(env)
		return
	}
	m := &message.VoteAsk{Group: e.config.Group, Term: e.term, Nonce: e.round.nonce, Handed: e.round.handed}
	switch {
	case env.Now() >= e.round.deadline || e.round.granted == nil:
		return
	case e.role == preCandidate:
		m.Pre, m.Term = true, e.term+1
	case e.role != candidate:
		return
	}
	for _, a := range e.others {
		if granted, answered := e.round.granted[a]; !answered || m.Pre && !granted {
			e.tell(env, a, m)
		}
	}
	env.SetTimer(node.Key(node.PartElection, node.ElectionStand), e.config.Heartbeat)
}

// onAnswer counts an answer to this round that arrives in time.
func (e *Election) onAnswer(env node.Env, from node.Peer, m *message.VoteAnswer) {
	if m.Term > e.term {
		e.heighten(env, m.Term, "a voter has a higher term")
		e.save(env, put{})
		return
	}
	if m.Nonce != e.round.nonce || e.round.granted == nil || e.role != preCandidate && e.role != candidate {
		return // of an earlier round
	}
	if env.Now() >= e.round.deadline {
		env.Emit(event.Reached{What: "election/late-answer"})
		return
	}
	e.round.granted[from.Addr] = m.Granted
	e.count(env)
}

// count acts once a majority has granted; this node's own vote counts.
func (e *Election) count(env node.Env) {
	granted := 1
	//lint:orderfree a sum
	for _, yes := range e.round.granted {
		if yes {
			granted++
		}
	}
	if granted < e.majority() {
		return
	}
	switch e.role {
	case preCandidate:
		e.stand(env, false)
	case candidate:
		granted := e.round.granted
		e.round.granted = nil
		e.lead(env, e.round.deadline.Add(-e.config.TimeoutMax), granted)
	}
}
