package election

import (
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// termMax is far beyond the terms of real elections, with room to count on.
const termMax = 1 << 62

// Election is one voter.
type Election struct {
	leadership
	trust
	round round
}

// round is one question to all others, and their answers.
type round struct {
	nonce    uint64
	handed   bool
	deadline node.Instant
	granted  map[node.Addr]bool
	joined   map[node.Addr]joined
	counts   bool // of joins: votes from before this round cannot count any more
}

// New returns a voter that has not started.
func New(c Config, p Poster) *Election {
	c.check()
	e := &Election{}
	e.config, e.poster, e.puts, e.admitted = c, p, map[node.WriteID]put{}, map[node.Addr]admission{}
	for i, a := range slices.Compact(slices.Sorted(slices.Values(c.Voters))) {
		if a == c.Self {
			e.rank = min(i, rankMax)
		} else {
			e.others = append(e.others, a)
		}
	}
	return e
}

// Start loads term and vote. Call it when the node starts.
func (e *Election) Start(env node.Env) {
	e.round.nonce = env.Rand(node.PurposeElection).Uint64() >> 1
	e.started = env.Now()
	e.heard = env.Now()
	e.load(env)
	if e.blank() {
		e.join(env)
		return
	}
	e.begin(env)
	e.heed(env)
}

// Receive handles a message, and reports whether it was one of an election.
func (e *Election) Receive(env node.Env, from node.Peer, m node.Message) bool {
	group, term := "", uint64(0)
	switch m := m.(type) {
	case *message.VoteAsk:
		group, term = m.Group, m.Term
	case *message.VoteAnswer:
		group, term = m.Group, m.Term
	case *message.LeaderBeat:
		group, term = m.Group, m.Term
	case *message.LeaderBeatAck:
		group, term = m.Group, m.Term
	case *message.LeaderHandOver:
		group, term = m.Group, m.Term
	case *message.VoterJoin:
		group = m.Group
	case *message.VoterJoined:
		group, term = m.Group, m.Term
	default:
		return false
	}
	switch {
	case group != e.config.Group:
		ignore(env, from, m, "it is of another group")
	case len(e.puts) >= putsMax:
		ignore(env, from, m, "the disk has not taken the votes before it")
	case !slices.Contains(e.others, from.Addr):
		ignore(env, from, m, "its sender is no voter")
	case e.config.Registers != nil && !e.config.Registers.Agrees(from.Addr):
		ignore(env, from, m, "its set of voters is another one, or not known yet")
	case term >= termMax:
		ignore(env, from, m, "no election reaches such a term")
	default:
		e.heed(env)
		if epoch, _ := EpochOf(term); epoch > max(e.epoch, e.member) {
			ignore(env, from, m, "its registers are of an earlier epoch")
		} else if e.believes(env, from, m, termOf(m, term)) {
			e.handle(env, from, m)
		}
	}
	return true
}

func (e *Election) handle(env node.Env, from node.Peer, m node.Message) {
	switch m := m.(type) {
	case *message.VoteAsk:
		e.onAsk(env, from, m)
	case *message.VoteAnswer:
		e.onAnswer(env, from, m)
	case *message.LeaderBeat:
		e.onBeat(env, from, m)
	case *message.LeaderBeatAck:
		e.onBeatAck(env, from, m)
	case *message.LeaderHandOver:
		e.onHandOver(env, from, m)
	case *message.VoterJoin:
		e.onJoin(env, from.Addr, m)
	case *message.VoterJoined:
		e.onJoined(env, from, m)
	}
}

// Fire handles a timer, and reports whether it was the election's.
func (e *Election) Fire(env node.Env, k node.TimerKey) bool {
	if k.Part != node.PartElection {
		return false
	}
	e.heed(env)
	switch k.Kind {
	case node.ElectionTimeout:
		e.onTimeout(env)
	case node.ElectionStand:
		e.askAgain(env)
	case node.ElectionBeat:
		e.beat(env)
	case node.ElectionQuorum:
		if e.role == leader {
			e.stepDown(env, "no majority was heard for "+e.config.TimeoutMax.String(), true)
		}
	}
	return true
}

// Stored handles a completion of the store.
func (e *Election) Stored(env node.Env, in *node.Input) {
	p, ok := e.puts[in.WriteID]
	if !ok {
		return
	}
	delete(e.puts, in.WriteID)
	if in.Err != nil {
		env.Emit(event.StoreFailed{What: "vote in " + e.config.Group, Err: in.Err.Error()})
	}
	switch p.then {
	case shows:
		e.pass.writing, e.pass.saved = false, in.Err == nil
		return
	case admits:
		e.onAdmitted(p.voter.Addr, p.given, in.Err)
		return
	}
	if in.Err != nil {
		if e.role == candidate && p.term == e.term {
			e.role = follower // the next timeout tries again
		}
		return
	}
	if p.term != e.term || p.vote != e.vote {
		return // it is on disk but outdated: no answer waits for it
	}
	e.state = max(e.state, saved)
	switch p.then {
	case asksOthers:
		if e.role == candidate && e.term == p.term {
			e.voted(env, env.Self().ID)
			e.ask(env, p.began, p.handed)
			e.count(env)
		}
	case begins:
		if e.blank() && e.member == e.epoch { // no later epoch began meanwhile
			e.memory = whole
			if e.term == p.term {
				e.state = max(e.state, saved)
			} else {
				e.state = cast
			}
			e.begin(env)
		}
	}
	if p.ask != nil {
		e.grant(env, p.voter, p.ask)
	}
}
