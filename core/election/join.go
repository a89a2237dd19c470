package election

import (
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// joined is what another voter reports to remember.
type joined struct {
	blank bool
	term  uint64
	epoch uint64 // it admits this node to this epoch
}

// join starts a voter that does not remember its votes: a new one, or one that lost its disk.
// While an old vote may still count (ELECTION-5), it joins only a group in which no voter
// remembers a term.
func (e *Election) join(env node.Env) {
	e.round = round{
		nonce: e.round.nonce + 1, joined: map[node.Addr]joined{},
		deadline: env.Now().Add(2 * e.config.TimeoutMax),
	}
	e.joinAgain(env)
}

// joinAgain asks the voters whose answer is missing or may improve.
func (e *Election) joinAgain(env node.Env) {
	if !e.round.counts && env.Now() >= e.round.deadline { // all earlier answers are too old
		e.round.counts = true
		e.round.nonce++
		clear(e.round.joined)
	}
	e.savePass(env)
	for _, a := range e.others {
		if j, answered := e.round.joined[a]; !answered || j.blank || j.term == 0 || e.pass.saved && j.epoch != e.epoch {
			e.tell(env, a, &message.VoterJoin{Group: e.config.Group, Nonce: e.round.nonce, Pass: e.shown(), Epoch: e.epoch})
		}
	}
	env.SetTimer(node.Key(node.PartElection, node.ElectionStand), e.config.Heartbeat)
	e.judgeJoin(env)
}

// onJoin answers with the term that this voter remembers. It stays silent if others may be
// ahead in the epoch. The founder of an epoch knows all its voters, and admits those that were
// none yet.
func (e *Election) onJoin(env node.Env, from node.Addr, m *message.VoterJoin) {
	answer := &message.VoterJoined{Group: m.Group, Nonce: m.Nonce, Blank: e.blank(), Term: e.term}
	if e.member > e.epoch || !e.blank() && !e.speaks() {
		return // it is not known yet whether this disk founded the epoch
	}
	if e.founder {
		if m.Epoch != e.epoch {
			return // late, or this voter learns of the epoch later
		}
		first, before := e.admits(env, from, m.Pass)
		if first {
			answer.Epoch = e.epoch
		} else if !before {
			return // the voter asks again
		}
	}
	e.tell(env, from, answer)
}

func (e *Election) onJoined(env node.Env, from node.Peer, m *message.VoterJoined) {
	if e.blank() && m.Nonce == e.round.nonce {
		e.round.joined[from.Addr] = joined{m.Blank, m.Term, m.Epoch}
		e.judgeJoin(env)
	}
}

// judgeJoin becomes a voter when it is safe (ELECTION-6). Every majority with this node in it
// has majority - 1 others. If only majority - 2 others have not answered, the answers include
// one of each such majority. In an epoch recovered from one disk, that disk may answer instead
// that this node was in none.
func (e *Election) judgeJoin(env node.Env) {
	remember, none, highest, admitted := 0, 0, max(e.term, firstTerm(e.epoch)), false
	//lint:orderfree sums and a maximum
	for _, j := range e.round.joined {
		if !j.blank {
			remember++
		}
		if j.blank || j.term == 0 {
			none++
		}
		highest = max(highest, j.term)
		admitted = admitted || e.pass.saved && j.epoch == e.epoch
	}
	all := len(e.others)
	// A recovered group is not founded again; a lone voter has no votes of others to forget.
	founded := none == all && e.term == 0 && e.epoch == 0 && (all == 0 || e.speaks())
	if !founded && e.exceeds(env) {
		return
	}
	if e.saving() || !founded && (!e.round.counts || !admitted && (remember < all-(e.majority()-2) || !e.asked())) {
		return
	}
	if highest > e.term {
		e.raise(env, highest, "")
	}
	if e.term > 0 {
		e.vote = e.config.Self // spent: it may have voted in that term
		env.Emit(event.Reached{What: "election/joined"})
	}
	e.member = e.epoch
	e.save(env, put{then: begins})
}

// heed asks the registers for the epoch of the group. The founder of the epoch is a voter of
// it; every other voter counts as blank. A founder with a torn record may have voted in the
// epoch: it stays blank, and still admits the others.
func (e *Election) heed(env node.Env) {
	if e.config.Registers == nil {
		return
	}
	epoch, speaks := e.config.Registers.Epoch()
	if !speaks || epoch <= e.epoch || firstTerm(epoch) >= termMax {
		return
	}
	e.epoch, e.founder = epoch, e.config.Registers.First(e.config.Self)
	switch {
	case e.member >= epoch:
	case e.founder && e.memory != torn:
		env.Emit(event.Reached{What: "election/epoch"})
		e.raise(env, firstTerm(epoch), "its group was recovered")
		e.member = epoch
		if e.blank() { // its registers had joined and its voter had not: it forgot no vote of the epoch
			e.memory = whole
			env.Emit(event.Reached{What: "election/blank-founder"})
			e.begin(env)
		}
		e.save(env, put{})
	case !e.blank():
		if e.role == leader {
			e.stepDown(env, "its group was recovered", false)
		}
		e.memory, e.role = lost, follower
		e.join(env)
	default:
		// Answers from before the epoch do not show whom its founder admits.
		e.round.nonce++
		clear(e.round.joined)
	}
}

// asked reports whether every member that may have founded the epoch has answered: the founder
// knows each voter of the epoch.
func (e *Election) asked() bool {
	if e.config.Registers == nil {
		return true
	}
	if !e.speaks() {
		return false
	}
	for _, a := range e.others {
		if _, answered := e.round.joined[a]; e.epoch > 0 && e.config.Registers.First(a) && !answered {
			return false
		}
	}
	return true
}
