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

// admissions is what this voter's disk holds of a recovered epoch: whom it admits, and
// by which pass it is admitted itself.
type admissions struct {
	record
	epoch    uint64 // of the group, as its registers have it; 0: never recovered
	founder  bool   // the epoch was recovered from this node's disk
	admitted map[node.Addr]admission
	pass     pass // of a blank voter
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
func (e *record) within(term uint64) bool {
	epoch, _ := EpochOf(term)
	return epoch <= e.member
}

// speaks says that this node's registers know the epoch of the group.
func (e *admissions) speaks() bool {
	if e.config.Registers == nil {
		return true
	}
	_, speaks := e.config.Registers.Epoch()
	return speaks
}

// savePass has a blank voter of a recovered group get a number that lasts as long
// as its disk.
func (e *admissions) savePass(env node.Env) {
	p := &e.pass
	if e.epoch == 0 || p.writing || p.saved && p.epoch == e.epoch {
		return
	}
	if p.number == 0 {
		p.number = env.Rand(node.PurposeElection).Uint64() | 1
	}
	p.epoch, p.writing, p.saved = e.epoch, true, false
	e.write(env, put{then: shows}, node.Record{Key: e.passKey(), Value: binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, p.number), p.epoch)})
}

// shown is the pass as others may see it: once it is on disk.
func (e *admissions) shown() uint64 {
	if e.pass.saved {
		return e.pass.number
	}
	return 0
}

// admits says that a voter's disk is the first one, and the only one, that votes in
// its name in the epoch that was recovered from this disk; or else, that there was
// one before. Both are on this disk before they are said.
func (e *admissions) admits(env node.Env, a node.Addr, shown uint64) (first, before bool) {
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
	e.write(env, put{then: admits, voter: node.Peer{Addr: a}, given: given}, node.Record{Key: e.admissionKey(a), Value: binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, given.epoch), given.pass)})
	return false, false
}

// onAdmitted ends the write of an admission.
func (e *admissions) onAdmitted(a node.Addr, given admission, err error) {
	switch {
	case e.admitted[a] != given: // of an epoch before
	case err != nil:
		delete(e.admitted, a) // it asks again
	default:
		given.saved = true
		e.admitted[a] = given
	}
}
