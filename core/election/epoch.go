package election

import (
	"encoding/binary"

	"hyperscale/core/event"
	"hyperscale/core/node"
)

// If a majority of a group's disks is lost, its blank voters wait for each other for ever. Then
// an operator recovers the group from one of the remaining disks, and its registers begin a new
// epoch (core/lease). Terms of an epoch are above all terms of earlier ones, so no voter votes
// twice in a term, whatever was lost. That one disk records the voters that it admits to the
// epoch: a voter that it has not admitted has never voted in it.

// epochBits is the room that each epoch has for terms.
const epochBits = 32

// firstTerm returns the first term of an epoch; it elects no leader.
func firstTerm(epoch uint64) uint64 { return epoch << epochBits }

// EpochOf splits a term into the epoch of its group and the term within it.
func EpochOf(term uint64) (epoch, of uint64) {
	return term >> epochBits, term & (1<<epochBits - 1)
}

// admissions is what this voter's disk holds of a recovered epoch: the voters that it admits,
// and the pass by which another disk admits this one.
type admissions struct {
	record
	epoch    uint64 // of the group, as its registers have it; 0: never recovered
	founder  bool   // the epoch was recovered from this node's disk
	admitted map[node.Addr]admission
	pass     pass // of a blank voter
}

// pass distinguishes the disks of one blank voter.
type pass struct {
	number  uint64
	epoch   uint64 // the epoch that it serves: a voter of that epoch needs it no longer
	writing bool
	saved   bool
}

// admission is a founder's record of one voter.
type admission struct {
	epoch uint64
	pass  uint64
	saved bool
}

// admissionOf decodes an admission. An unreadable one was written for some disk, so it counts
// in every epoch, and for no pass.
func admissionOf(value []byte) admission {
	if len(value) != 16 {
		return admission{epoch: ^uint64(0)}
	}
	return admission{epoch: binary.BigEndian.Uint64(value), pass: binary.BigEndian.Uint64(value[8:]), saved: true}
}

// within reports whether this voter votes in a term. It does not in an epoch of which it is no
// voter: the founder may yet admit another disk in its name.
func (e *record) within(term uint64) bool {
	epoch, _ := EpochOf(term)
	return epoch <= e.member
}

// speaks reports whether this node's registers know the epoch of the group.
func (e *admissions) speaks() bool {
	if e.config.Registers == nil {
		return true
	}
	_, speaks := e.config.Registers.Epoch()
	return speaks
}

// savePass gives a blank voter of a recovered group a number that lasts as long as its disk.
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

// shown returns the pass once it is on disk, 0 before.
func (e *admissions) shown() uint64 {
	if e.pass.saved {
		return e.pass.number
	}
	return 0
}

// admits reports whether a voter's disk is the first and only one that votes in its name in the
// epoch recovered from this disk, or whether there was another one before. This disk stores the
// admission before the answer.
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
	case e.admitted[a] != given: // of an earlier epoch
	case err != nil:
		delete(e.admitted, a) // the voter asks again
	default:
		given.saved = true
		e.admitted[a] = given
	}
}
