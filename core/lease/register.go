package lease

import (
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"hyperscale/core/lease/tomb"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// register is one job's register, as this member's acceptor has it on disk.
type register struct {
	job      message.JobID
	key      string // of its record on the disk, once that was written
	promised message.LeaseToken
	promiser message.LeaseLife
	accepted message.LeaseState // of a tombstone: released, without its record
	reaped   bool

	received  node.Instant // when accepted arrived, or the promise while nothing is accepted; a restart sets it to now
	written   node.Instant // when its record arrived; zero: before this member's restart, or by another way than its holder
	seen      uint64       // highest epoch in any message
	consent   message.LeaseToken
	writing   bool                 // a change is on its way to the disk
	watched   node.Instant         // instant of its entry in the watch, 0 for none
	notBefore node.Instant         // another member may hold it until then
	over      message.LeaseToken   // this node released it under this token, whether or not its own disk has that
	missed    *message.LeaseAccept // that release, if a majority has it and this disk does not
	own       *proposal
}

// floor stands for all promises that this member has forgotten. No token up to it gets a register
// that the member does not know, so a forgotten promise binds like one that it remembers.
type floor struct {
	own   uint64   // an epoch, on the disk before the member forgets what it stands for
	heard uint64   // the highest floor that a member can have: this member chooses tokens above it
	of    []uint64 // by member: the floor that it says
	self  int      // this member
}

// floorMax bounds a floor. A member keeps the promise of a higher token, which is another member's
// fault: its floor would use up the tokens of every register.
const floorMax = 1 << 40

// raise takes the floor to an epoch, and says whether it may stand there.
func (f *floor) raise(epoch uint64) bool {
	if epoch > floorMax {
		return false
	}
	f.own = max(f.own, epoch)
	f.heard = max(f.heard, f.own)
	f.of[f.self] = f.own
	return true
}

// hear notes the floor of another member. It returns false if it is a step above what a majority
// has, and does not count.
func (f *floor) hear(from, majority int, epoch uint64) bool {
	if f.of[from] = max(f.of[from], epoch); epoch <= f.heard {
		return true
	}
	floors := slices.Sorted(slices.Values(f.of))
	if epoch > floors[majority-1]+tokenStep {
		return false
	}
	f.heard = epoch
	return true
}

// fresh returns a register that this member does not know, as its rules judge it.
func (f *floor) fresh(job message.JobID) *register {
	reg := &register{job: job}
	reg.bind(f.own)
	return reg
}

// bind promises every token up to an epoch away.
func (reg *register) bind(epoch uint64) {
	if t := (message.LeaseToken{Epoch: epoch, Ordinal: message.OrdinalMax}); epoch > 0 && reg.promised.Less(t) {
		reg.promised, reg.promiser = t, contested()
	}
}

func sortedOf(m map[message.JobID]*register) []*register {
	return slices.SortedFunc(maps.Values(m), func(a, b *register) int { return a.job.Compare(b.job) })
}

// low reports whether the acceptor has promised a token away: to a higher one, or to an equal
// one that another life chose.
func (reg *register) low(t message.LeaseToken, l message.LeaseLife) bool {
	c := t.Compare(reg.promised)
	return c < 0 || c == 0 && l != reg.promiser
}

// left returns how long a holder still has the register: now - received < guard.
func (reg *register) left(now node.Instant, c *Config) time.Duration {
	a := &reg.accepted
	if reg.reaped || a.Token.Zero() || a.Released {
		return 0
	}
	return max(0, c.guard(a.Lease)-now.Sub(reg.received))
}

// mayPass reports whether a proposer may get the promise of a held register: its holder, in
// this life or a later one, or the member to which the holder has consented.
func (reg *register) mayPass(m *message.LeasePrepare) bool {
	a := &reg.accepted
	if a.Token.Ordinal == m.Token.Ordinal && (a.Life == m.Life || a.Life.Incarnation < m.Life.Incarnation) {
		return true
	}
	return !m.Consent.Zero() && !m.Consent.Less(a.Token)
}

// told says that the member tells others what it has accepted: a tombstone only if it has an
// epitaph.
func (reg *register) told() bool { return !reg.reaped || len(reg.accepted.Record) > 0 }

// buried reports whether a token is not above a tombstone's.
func (reg *register) buried(t message.LeaseToken) bool {
	return reg.reaped && !reg.accepted.Token.Less(t)
}

// ruling is the decision of an acceptor's rules on one request.
type ruling uint8

const (
	takes            ruling = iota // the acceptor answers once its disk has it
	has                            // its disk has it already
	hasLater                       // its disk has something later of the same sender
	renews                         // no record changes: in memory only
	lacksRecord                    // a renewal of a record that this acceptor lacks
	refusesLow                     // it has promised a higher token
	refusesOtherLife               // another life has chosen the same token
	refusesHeld                    // the lease has not run out
	refusesOldDisk                 // it rests on promises of lost disks
)

// judgePrepare applies rule 1: promise a token above all promised ones, once no member
// holds the register.
func (reg *register) judgePrepare(now node.Instant, c *Config, m *message.LeasePrepare) ruling {
	if reg.low(m.Token, m.Life) || reg.buried(m.Token) {
		if m.Token == reg.promised && m.Life != reg.promiser {
			return refusesOtherLife
		}
		return refusesLow
	}
	if reg.left(now, c) > 0 && !reg.mayPass(m) {
		return refusesHeld
	}
	if m.Token == reg.promised {
		return has
	}
	return takes
}

// judgeAccept applies rule 2: accept what no promise forbids, unless it rests on a disk that is
// lost by what gens say.
func (reg *register) judgeAccept(gens []uint64, m *message.LeaseAccept) ruling {
	if reg.buried(m.Token) {
		return refusesLow
	}
	if reg.low(m.Token, m.Life) {
		if m.Token == reg.promised {
			return refusesOtherLife
		}
		return refusesLow
	}
	for i, g := range m.Rest {
		if g > 0 && g < gens[i] {
			return refusesOldDisk
		}
	}
	a := &reg.accepted
	same := a.Token == m.Token && a.Life == m.Life
	switch {
	case same && m.Seq < a.Seq:
		return hasLater
	case same && m.Seq == a.Seq:
		return has
	case same && m.Rev == a.Rev && !m.Released && !a.Released:
		return renews
	case m.Renewal:
		return lacksRecord
	}
	return takes
}

// renew starts the guard again, in memory only. A restart loses the Seq alone: the guard then
// starts again anyway.
func (reg *register) renew(now node.Instant, m *message.LeaseAccept) {
	a := &reg.accepted
	a.Seq, a.Lease, a.Copied = m.Seq, m.Lease, false
	reg.received = now
}

// aftermath is what follows once a change is on disk.
type aftermath uint8

const (
	answersNone aftermath = iota
	answersPromise
	answersAccepted
	forgets // the register goes for good
)

// change is what one register becomes once it is on disk, and what follows then. A register has
// at most one. Requests that arrive meanwhile wait, so that the rules always judge what the
// disk has.
type change struct {
	reg      *register
	from     int
	promised message.LeaseToken
	promiser message.LeaseLife
	accepted message.LeaseState
	reaped   bool
	received node.Instant
	written  node.Instant
	then     aftermath
}

func (reg *register) change(from int) change {
	return change{
		reg: reg, from: from, promised: reg.promised, promiser: reg.promiser,
		accepted: reg.accepted, reaped: reg.reaped, received: reg.received, written: reg.written,
	}
}

// later reports whether a was accepted after b.
func later(a, b *message.LeaseState) bool {
	if c := a.Token.Compare(b.Token); c != 0 {
		return c > 0
	}
	return a.Seq > b.Seq
}

// void reports whether a register holds nothing. Either no member has written to it, or it was
// forgotten: a tombstone, or later acquisitions without a seed that went no further. It starts
// over with a seed.
func void(s *message.LeaseState) bool { return len(s.Record) == 0 }

// EpitaphMax bounds what a tombstone says of its job, in bytes.
const EpitaphMax = tomb.EpitaphMax

// An epitaph stands in its register in place of the record: a mark that no record begins with,
// the digest of the record, then the text. So a member that acquires or reads the register gets
// an epitaph, and observers still see the value that a majority accepted.
const (
	epitaphMark = 0xc1
	epitaphHead = 1 + 8
)

func engraved(value uint64, text []byte) []byte {
	if len(text) == 0 {
		return nil
	}
	return append(binary.BigEndian.AppendUint64([]byte{epitaphMark}, value), text...)
}

// Epitaph returns the text that a role gave to Bury, if a record is an epitaph.
func Epitaph(record []byte) (text []byte, ok bool) {
	if len(record) <= epitaphHead || record[0] != epitaphMark {
		return nil, false
	}
	return record[epitaphHead:], true
}

// Value returns a record's digest for events, 0 for none. The value of an epitaph is that of the
// record that it replaced.
func Value(record []byte) uint64 {
	if len(record) == 0 {
		return 0
	}
	if _, ok := Epitaph(record); ok {
		return binary.BigEndian.Uint64(record[1:])
	}
	return node.MixBytes(0, record)
}
