package election

import (
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// termMax is beyond what elections reach, and leaves room to count on.
const termMax = 1 << 62

type role uint8

const (
	follower role = iota
	preCandidate
	candidate // from the moment its own vote is put
	leader
)

// Election is one voter.
type Election struct {
	config Config
	poster Poster
	others []node.Addr // sorted, without Self
	rank   int         // of Self among all
	role   role

	term  uint64
	vote  node.Addr // in term; empty: none yet
	saved bool      // both are on disk
	told  bool      // the vote is, to observers
	blank bool      // this node does not remember its votes yet
	torn  bool      // because its record cannot be read: there was one
	puts  map[node.Token]put
	token uint64

	known   node.Addr // leader of term, empty if none is known
	knownID node.ID
	heard   node.Instant // it, or a vote, or the start
	counter uint64       // of its last beat; a leader's own
	silent  int          // timeouts without a leader

	round round

	acks   map[node.Addr]ack // a leader's
	sent   [beatsKept]node.Instant
	resort bool // it was elected although it is unfit
	drain  bool

	fitness int
	changes []node.Instant // of own leadership, of late
	calm    node.Instant   // does not stand before, unless no fellow leads or one hands over

	epoch    uint64 // of the group, as its registers have it; 0: never recovered
	member   uint64 // the epoch in which this node is a voter, on disk
	founder  bool   // the epoch was recovered from this node's disk
	admitted map[node.Addr]admission
	pass     pass // of a blank voter

	outcomes []Outcome
}

// round is one question to all others, and their answers.
type round struct {
	nonce    uint64
	handed   bool
	deadline node.Instant
	granted  map[node.Addr]bool
	joined   map[node.Addr]joined
	counts   bool // of joins: votes of before count no more
}

// New returns a voter that has not started.
func New(c Config, p Poster) *Election {
	c.check()
	e := &Election{config: c, poster: p, puts: map[node.Token]put{}, admitted: map[node.Addr]admission{}}
	for i, a := range slices.Compact(slices.Sorted(slices.Values(c.Voters))) {
		if a == c.Self {
			e.rank = min(i, rankMax)
		} else {
			e.others = append(e.others, a)
		}
	}
	return e
}

// majority is of all that are configured.
func (e *Election) majority() int { return (len(e.others)+1)/2 + 1 }

// Start loads term and vote. Call it when the node starts.
func (e *Election) Start(env node.Env) {
	e.round.nonce = env.Rand(node.PurposeElection).Uint64() >> 1
	e.heard = env.Now()
	e.load(env)
	if e.blank {
		e.join(env)
		return
	}
	e.begin(env)
	e.heed(env)
}

// Take returns the outcomes since the last Take, in order.
func (e *Election) Take() []Outcome {
	o := e.outcomes
	e.outcomes = nil
	return o
}

// Leader returns who leads in which term, as far as this node knows. Before acting
// as the leader ask Leads.
func (e *Election) Leader() (a node.Addr, term uint64, known bool) {
	return e.known, e.term, e.known != ""
}

// Term returns the highest term that this node knows of.
func (e *Election) Term() uint64 { return e.term }

// SetFitness tells the own local health, 0 (best) to 8.
func (e *Election) SetFitness(env node.Env, multiplier int) {
	e.fitness = multiplier
	if e.role == leader {
		e.judgeHealth(env)
	}
}

// Receive handles a message, and says whether it was one of an election.
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
	case term >= termMax:
		ignore(env, from, m, "no election reaches such a term")
	default:
		e.heed(env)
		e.handle(env, from, m)
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

func ignore(env node.Env, from node.Peer, m node.Message, why string) {
	env.Emit(event.Ignored{Peer: from.ID, Message: message.Name(m.Kind()), Why: why})
}

func (e *Election) tell(env node.Env, to node.Addr, m node.Message) { e.poster.Post(env, to, m) }

func (e *Election) tellAll(env node.Env, m node.Message) {
	for _, a := range e.others {
		e.tell(env, a, m)
	}
}

// Fire handles a timer, and says whether it was the election's.
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

// follow changes who is known to lead; the empty peer: nobody.
func (e *Election) follow(env node.Env, p node.Peer) {
	if e.known == p.Addr && e.knownID == p.ID {
		return
	}
	e.known, e.knownID = p.Addr, p.ID
	env.Emit(event.LeaderKnown{Group: e.config.Group, Term: e.term, Leader: p.ID})
	if p.Addr != e.config.Self {
		e.outcomes = append(e.outcomes, Outcome{Kind: Follows, Term: e.term, Leader: p.Addr})
	}
}

// raise takes a higher term over. Whoever this node was in the old one it is not in
// the new.
func (e *Election) raise(env node.Env, term uint64, why string) {
	if term <= e.term {
		return
	}
	if e.role == leader {
		e.stepDown(env, why, true)
	}
	wasStanding := e.role != follower
	e.role = follower
	e.term, e.vote, e.saved, e.told, e.counter = term, "", false, false, 0
	e.follow(env, node.Peer{})
	if wasStanding {
		e.wait(env)
	}
}
