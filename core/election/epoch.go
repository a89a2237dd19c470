package election

import (
	"encoding/binary"

	"hyperscale/core/event"
	"hyperscale/core/node"
)

// When a majority of a group's disks is lost, blank voters wait for each other for
// ever, until an operator has the group recovered from one of the disks that are
// left: its registers begin a new epoch (core/lease). Terms of an epoch are above all
// of the epochs before, so that nobody votes twice in one, whatever was lost. Within
// the epoch the disk that it was recovered from keeps whom it has admitted as a
// voter: whoever it has not admitted has never voted in it.

// epochBits is the room that each epoch has for terms.
const epochBits = 32

// firstTerm is that of an epoch; nobody is elected in it.
func firstTerm(epoch uint64) uint64 { return epoch << epochBits }

// EpochOf takes a term apart: in which epoch of its group it is, and which one there.
func EpochOf(term uint64) (epoch, of uint64) {
	return term >> epochBits, term & (1<<epochBits - 1)
}

// pass tells the disks of one blank voter apart.
type pass struct {
	number  uint64
	epoch   uint64 // in which it is shown: a voter of it needs it no more
	writing bool
	saved   bool
}

// admission is what a founder has on its disk of a voter.
type admission struct {
	epoch uint64
	pass  uint64
	saved bool
}

func (e *Election) epochKey() string { return e.key() + "/epoch" }

func (e *Election) passKey() string { return e.key() + "/pass" }

func (e *Election) admissionKey(a node.Addr) string { return e.key() + "/admitted/" + string(a) }

// admissionOf reads one. What cannot be read was written for somebody: it counts in
// each epoch, and for no pass.
func admissionOf(value []byte) admission {
	if len(value) != 16 {
		return admission{epoch: ^uint64(0)}
	}
	return admission{epoch: binary.BigEndian.Uint64(value), pass: binary.BigEndian.Uint64(value[8:]), saved: true}
}

// within says whether this voter votes in a term: not in one of an epoch of which it
// is no voter, as another disk may yet be admitted in its name.
func (e *Election) within(term uint64) bool {
	epoch, _ := EpochOf(term)
	return epoch <= e.member
}

// heed asks the registers for the epoch of the group. Whoever it was recovered from
// is a voter of it, and everybody else as good as blank. A founder with a torn record
// may have voted in the epoch: it stays blank, and admits the others all the same.
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
	case e.founder && !e.torn:
		env.Emit(event.Reached{What: "election/epoch"})
		e.raise(env, firstTerm(epoch), "its group was recovered")
		e.member = epoch
		if e.blank { // its registers had joined and its voter had not: no vote of the epoch is forgotten
			e.blank = false
			env.Emit(event.Reached{What: "election/blank-founder"})
			e.begin(env)
		}
		e.save(env, put{})
	case !e.blank:
		if e.role == leader {
			e.stepDown(env, "its group was recovered", false)
		}
		e.blank, e.role = true, follower
		e.join(env)
	default:
		// Answers from before the epoch do not show whom its founder admits.
		e.round.nonce++
		clear(e.round.joined)
	}
}

// speaks says that this node's registers know the epoch of the group.
func (e *Election) speaks() bool {
	if e.config.Registers == nil {
		return true
	}
	_, speaks := e.config.Registers.Epoch()
	return speaks
}

// asked says that whoever may be the one that the epoch was recovered from has
// answered: it is to know of each voter of the epoch.
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

// savePass has a blank voter of a recovered group get a number that lasts as long
// as its disk.
func (e *Election) savePass(env node.Env) {
	p := &e.pass
	if e.epoch == 0 || p.writing || p.saved && p.epoch == e.epoch {
		return
	}
	if p.number == 0 {
		p.number = env.Rand(node.PurposeElection).Uint64() | 1
	}
	p.epoch, p.writing, p.saved = e.epoch, true, false
	e.write(env, put{of: func(_ node.Env, err error) {
		p.writing, p.saved = false, err == nil
	}}, node.Record{Key: e.passKey(), Value: binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, p.number), p.epoch)})
}

// shown is the pass as others may see it: once it is on disk.
func (e *Election) shown() uint64 {
	if e.pass.saved {
		return e.pass.number
	}
	return 0
}

// admits says that a voter's disk is the first one, and the only one, that votes in
// its name in the epoch that was recovered from this disk; or else, that there was
// one before. Both are on this disk before they are said.
func (e *Election) admits(env node.Env, a node.Addr, shown uint64) (first, before bool) {
	if known, ok := e.admitted[a]; ok && known.epoch >= e.epoch {
		first = known.epoch == e.epoch && known.pass == shown && known.saved
		before = known.pass != shown
		if before {
			env.Emit(event.Reached{What: "election/admitted-before"})
		}
		return first, before
	}
	if shown == 0 {
		return false, false
	}
	given := admission{epoch: e.epoch, pass: shown}
	e.admitted[a] = given
	e.write(env, put{of: func(_ node.Env, err error) {
		switch {
		case e.admitted[a] != given: // of an epoch before
		case err != nil:
			delete(e.admitted, a) // it asks again
		default:
			given.saved = true
			e.admitted[a] = given
		}
	}}, node.Record{Key: e.admissionKey(a), Value: binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, given.epoch), given.pass)})
	return false, false
}
