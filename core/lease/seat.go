package lease

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/lease/level"
	"hyperscale/core/lease/seats"
	"hyperscale/core/message"
	"hyperscale/core/message/record"
	"hyperscale/core/node"
)

// seat is this member's place in its group: who the members are, its own standing, and the
// outcomes for its role. The other layers share it.
type seat struct {
	c        Config
	set      []node.Addr // the members by seat: sorted, until a seat is given to another address
	names    []string    // the same
	n        int         // of members
	majority int
	self     int // index of this member in set; its ordinal is one more
	life     message.LeaseLife

	standing standing
	target   standing // the standing that it takes once its disk has it
	epoch    uint64   // of the group: raised by a recovery
	disks
	floor   floor          // under the promises that this member has forgotten
	level   level.Level    // of what the group writes
	unknown record.Unknown // fields of its mark that a newer version wrote
	moving  *seats.Set     // the set that its mark gets, before this member starts again in it

	remarks

	calls    uint64
	outcomes []Outcome
	taken    []Outcome
}

func newSeat(c Config) seat {
	s := seat{c: c, set: slices.Clone(c.Members), n: len(c.Members), majority: c.Majority()}
	if c.Set.Version == 0 {
		slices.Sort(s.set)
	}
	s.self = slices.Index(s.set, c.Self)
	for _, a := range s.set {
		s.names = append(s.names, string(a))
	}
	s.floor.of, s.floor.self = make([]uint64, s.n), s.self
	if c.Set.Version == 0 {
		s.c.Set = seats.Founded(s.names)
	}
	s.gens, s.notes, s.level = make([]uint64, s.n), make([]Note, s.n), level.Among(s.self, s.n)
	return s
}

// disks is what this member knows of all members' disks.
type disks struct {
	gens    []uint64   // by member: highest known generation of its disk
	told    []uint64   // gens as the last frames said
	unsaved bool       // the disk does not have gens as they are
	claims  [][]uint64 // by member: generations that it said of other members' disks; nil until one is above gens
}

// remarks are what the members' roles tell each other.
type remarks struct {
	note  []byte // of this member's role, to all
	notes []Note // by member: the last that came from it
}

// Note is what the role of another member tells beside its answers, as it knew when it answered. A
// member whose write is on a majority has heard what a majority had heard before.
type Note struct {
	Text []byte // empty: none
	At   node.Instant
}

// SetNote sets what each frame to other members tells from now on, at most 64 bytes.
func (r *seat) SetNote(text []byte) { r.note = text }

// Notes returns the last note of each member. The caller must not change it.
func (r *seat) Notes() []Note { return r.notes }

// Take returns the outcomes since the last Take, in order. The slice is valid until the next
// Take.
func (r *seat) Take() []Outcome {
	if len(r.outcomes)+len(r.taken) == 0 {
		return nil
	}
	clear(r.taken)
	r.taken, r.outcomes = r.outcomes, r.taken[:0]
	return r.taken
}

func (r *seat) tell(o Outcome) { r.outcomes = append(r.outcomes, o) }

// alarm alerts operators through the role and with an event.
func (r *seat) alarm(env node.Env, reason string, err error) {
	env.Emit(event.GroupAlarm{Group: r.c.Group, Reason: reason, Speaks: r.standing.speaks()})
	r.tell(Outcome{Kind: Alarm, Reason: reason, Err: err})
}

func (r *seat) called(env node.Env, job message.JobID, what string, t message.LeaseToken, value uint64) uint64 {
	r.calls++
	env.Emit(event.LeaseCalled{Group: r.c.Group, Job: job, Call: r.calls, What: what, Token: t, Value: value})
	return r.calls
}

func (r *seat) returned(env node.Env, job message.JobID, call uint64, ok bool, t message.LeaseToken, value uint64) {
	env.Emit(event.LeaseReturned{Group: r.c.Group, Job: job, Call: call, OK: ok, Token: t, Value: value})
}

// Speaks reports whether this node is a member; before that it acquires nothing.
func (r *seat) Speaks() bool { return r.standing.speaks() }

// Epoch returns how many recoveries of the group this member knows of; false while it does not
// speak.
func (r *seat) Epoch() (epoch uint64, speaks bool) { return r.epoch, r.standing.speaks() }

// Floor returns the highest epoch of the promises that this member has forgotten.
func (r *seat) Floor() uint64 { return r.floor.own }

// Level returns the level of the group, as this member has it on disk.
func (r *seat) Level() uint16 { return r.level.Own() }

// version returns what a member tells.
func (r *seat) version(env node.Env, i int) (minor uint16, heard bool) {
	switch {
	case i == r.self:
		return env.Self().Minor, true
	case r.c.Versions == nil:
		return 0, false
	}
	return r.c.Versions.Minor(r.set[i])
}

// heldBack returns why the group cannot have a level, as this member hears the others.
func (r *seat) heldBack(env node.Env, to uint16) []string {
	if !r.standing.speaks() {
		return []string{fmt.Sprintf("%s is joining: wait until it is a member", r.c.Self)}
	}
	all := make([]level.Member, 0, r.n)
	for i, a := range r.set {
		minor, heard := r.version(env, i)
		all = append(all, level.Member{Addr: a, Minor: minor, Heard: heard})
	}
	return level.HeldBack(all, to)
}

// First reports whether a member may run on the disk from which the epoch was recovered:
// members that joined since have a higher generation.
func (r *seat) First(a node.Addr) bool {
	i := slices.Index(r.set, a)
	return i >= 0 && r.epoch > 0 && r.gens[i] <= epochGenerations(r.epoch)
}

// Set returns the set of this member. The caller must not change it.
func (r *seat) Set() seats.Set { return r.c.Set }

// Address returns the member that chose a token; empty: it has no seat now.
func (r *seat) Address(t message.LeaseToken) node.Addr {
	if i := slices.Index(r.c.Set.Ordinals, uint64(t.Ordinal)); i >= 0 {
		return r.set[i]
	}
	return ""
}

// ordinal is that of a member in tokens.
func (r *seat) ordinal(member int) uint32 { return uint32(r.c.Set.Ordinals[member]) }

func (r *seat) rank(job message.JobID) int {
	if r.c.Order == nil {
		return r.self
	}
	return min(max(r.c.Order.Rank(job), 0), r.n)
}

func (r *seat) retryIn(env node.Env) time.Duration {
	return env.Rand(node.PurposeLease).Duration(r.c.RetryMin, r.c.RetryMax)
}

// agree returns the most of a set's members of which none says that another one has lost the disk
// that this member hears. Only they count together: a member that knows of the newer disk is in
// each majority, and one member alone rules no other out.
func (r *seat) agree(s members) members {
	var claimers, accused members
	for by := range r.claims {
		for of, g := range r.claims[by] {
			if by != of && s.has(by) && s.has(of) && g > r.gens[of] {
				claimers.add(by)
				accused.add(of)
			}
		}
	}
	if accused.count() < claimers.count() {
		return s &^ accused
	}
	return s &^ claimers
}

// agreed reports whether a majority of all members is in a set and agrees.
func (r *seat) agreed(s members) bool {
	return s.count() >= r.majority && r.agree(s).count() >= r.majority
}

func reached(env node.Env, what string) { env.Emit(event.Reached{What: what}) }

func ignore(env node.Env, peer node.ID, m node.Message, why string) {
	env.Emit(event.Ignored{Peer: peer, Message: message.Name(m.Kind()), Why: why})
}

func (r *seat) key(name string) string { return "lease/" + r.c.Group + "/" + name }

func (r *seat) keyOf(job message.JobID) string {
	return "lease/" + r.c.Group + "/register/" + job.String()
}

// plural names the members of a group for operators.
func plural(group string) string {
	if strings.HasSuffix(group, "s") {
		return group
	}
	return "members of " + group
}

// epochGenerations returns the first generation of an epoch.
func epochGenerations(epoch uint64) uint64 { return epoch<<32 | 1 }

// epochEnd is the first epoch that does not pack into a fence.
const epochEnd = 1 << 56

// members is a set of members, by ordinal less one.
type members uint64

func (s members) has(i int) bool { return s>>i&1 != 0 }
func (s *members) add(i int)     { *s |= 1 << i }
func (s *members) drop(i int)    { *s &^= 1 << i }
func (s members) count() int     { return bits.OnesCount64(uint64(s)) }

// contested is the life of a token that two lives have chosen: no message carries it, so acceptors
// reject both.
func contested() message.LeaseLife {
	return message.LeaseLife{Incarnation: ^uint64(0), Salt: ^uint64(0)}
}
