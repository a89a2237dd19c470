package election

import (
	"encoding/binary"
	"slices"
	"strings"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// put is an open write of term and vote, and what follows it.
type put struct {
	term   uint64
	vote   node.Addr
	voter  node.Peer        // the voter to answer, if any
	ask    *message.VoteAsk //
	then   followUp
	began  node.Instant // of asksOthers
	handed bool
	given  admission // of admits, with voter
}

// followUp is what follows a put, beside the answer to a voter.
type followUp uint8

const (
	nothing    followUp = iota
	asksOthers          // its own vote is on disk: a candidate requests the others
	begins              // a blank voter becomes one
	shows               // its pass is on disk
	admits              // the admission of another voter is on disk
)

// record is what this voter has on disk, and writes there.
type record struct {
	seat
	ballot
	memory memory
	member uint64 // on disk: this node is a voter of this epoch
	puts   map[node.WriteID]put
	token  uint64
}

// ballot is this node's vote in a term.
type ballot struct {
	term  uint64
	vote  node.Addr // in term; empty: none yet
	state ballotState
}

// ballotState is how far term and vote have got.
type ballotState uint8

const (
	cast  ballotState = iota
	saved             // on disk
	told              // and observers know the vote
)

// memory is what a voter knows of the votes that it has given.
type memory uint8

const (
	whole memory = iota
	lost         // its disk has no record
	torn         // its disk has one that cannot be read
)

// blank reports that this voter does not remember its votes yet.
func (e *record) blank() bool { return e.memory != whole }

// Votes reports whether this voter remembers its votes: the group may lose another voter's disk.
func (e *record) Votes() bool { return !e.blank() }

// save writes term and vote. A blank voter writes nothing before it has joined, because its
// record would claim that it remembers.
func (e *record) save(env node.Env, p put) {
	if e.blank() && p.then == nothing {
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

func (e *record) write(env node.Env, p put, records ...node.Record) {
	e.token++
	t := node.WriteIDOf(node.PartElection, e.token)
	e.puts[t] = p
	env.Store().Put(records, t)
}

// saving reports whether a write of the current term and vote is open.
func (e *record) saving() bool {
	//lint:orderfree whether there is one
	for _, p := range e.puts {
		if p.then != shows && p.then != admits && p.term == e.term && p.vote == e.vote {
			return true
		}
	}
	return false
}

// voted reports the vote to observers once an incarnation.
func (e *record) voted(env node.Env, id node.ID) {
	if e.state != told {
		e.state = told
		env.Emit(event.Voted{Group: e.config.Group, Term: e.term, For: id})
	}
}

func (e *admissions) load(env node.Env) {
	e.memory = lost
	for _, r := range env.Store().Load(e.key()) {
		of, admits := strings.CutPrefix(r.Key, e.admissionKey(""))
		switch {
		case r.Key == e.key() && len(r.Value) >= 8:
			e.term, e.vote = binary.BigEndian.Uint64(r.Value), node.Addr(r.Value[8:])
			e.memory, e.state = whole, saved
		case r.Key == e.key():
			e.memory = torn
		case r.Key == e.epochKey() && len(r.Value) == 8:
			e.member = binary.BigEndian.Uint64(r.Value)
		case r.Key == e.passKey() && len(r.Value) == 16:
			e.pass = pass{number: binary.BigEndian.Uint64(r.Value), epoch: binary.BigEndian.Uint64(r.Value[8:]), saved: true}
		case admits && slices.Contains(e.others, node.Addr(of)):
			e.admitted[node.Addr(of)] = admissionOf(r.Value)
		}
	}
	if e.blank() {
		e.member = 0
	}
	if e.memory == torn || e.pass.epoch <= e.member {
		e.pass = pass{} // the disk with this pass has been a voter
	}
}
