package lease

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"hyperscale/core/event"
	"hyperscale/core/lease/seats"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Two members with different sets exchange hails alone. One that hears of a later set of its own seats
// writes it to its mark, and starts again in it: a restart is what each part of a member is proved to
// survive.

// Agrees says whether messages of a member count: two members with different sets ignore each other.
func (r *membership) Agrees(a node.Addr) bool {
	i := slices.Index(r.set, a)
	if i < 0 || i == r.self {
		return i == r.self
	}
	return r.peers[i].greeted || r.c.Set.Version == 0 && !r.peers[i].differs
}

// Replace gives the seat of one address to another. The caller makes sure that the others are members
// that answer and lack no file: the change counts as the loss of a disk. A restart follows once
// this member's disk has the set, and Moved before it.
func (r *membership) Replace(env node.Env, old, to node.Addr) error {
	at := slices.Index(r.set, old)
	switch {
	case !r.standing.speaks() || r.standing == recovered || r.moving != nil:
		return errors.New("this member is not settled in its group: ask again when it is ready")
	case at < 0:
		return fmt.Errorf("%s has no seat in %s: name one of those", old, strings.Join(r.names, ","))
	case at == r.self:
		return fmt.Errorf("%s is this member: ask another one", old)
	case slices.Contains(r.set, to) || slices.Contains(r.c.Set.Retired, string(to)):
		return fmt.Errorf("%s has or had a seat: give it an address that is new to the group", to)
	case to == "" || len(to) > addressMax:
		return fmt.Errorf("an address has 1 to %d bytes, %q has %d", addressMax, to, len(to))
	case r.c.Set.Version >= seats.VersionMax(r.n):
		return errors.New("the set has changed too often: recover the group with a new one")
	}
	for i := range r.peers {
		if p := &r.peers[i]; i != r.self && i != at && !p.greeted {
			return fmt.Errorf("%s is not known to have the same set: replace one member at a time, while the others are ready", r.set[i])
		}
	}
	r.move(env, r.c.Set.Replaced(at, r.self, string(to)))
	return nil
}

// addressMax is the length of the longest address of a member.
const addressMax = 256

// move writes a later set to the mark.
func (r *membership) move(env node.Env, s seats.Set) {
	reached(env, "lease/moves")
	r.moving = &s
	r.recordMark(env, tag{then: moved})
}

// onMoved starts again in the set that the disk has.
func (r *membership) onMoved(env node.Env, err error) {
	s := r.moving
	if err != nil {
		r.moving = nil // a hail says it again
		return
	}
	env.Emit(event.GroupMoved{Group: r.c.Group, Version: s.Version, Set: strings.Join(s.Members, ",")})
	r.tell(Outcome{Kind: Moved, Set: *s})
	env.Restart(fmt.Sprintf("the set of %s is now %s", plural(r.c.Group), strings.Join(s.Members, ",")))
}

// hearSet compares the set of a hail with this member's, and returns whether both are one.
func (r *membership) hearSet(env node.Env, from int, m *message.LeaseHail) bool {
	if m.Version == 0 && r.c.Set.Version == 0 {
		if slices.Equal(m.Members, r.names) {
			return true
		}
		r.refuseSet(env, r.set[from], from, m)
		return false
	}
	if r.standing.speaks() && m.Epoch != r.epoch {
		r.peers[from].greeted = false
		return m.Epoch > r.epoch // a recovery: the set of the earlier epoch counts no more
	}
	theirs := seats.Set{Version: m.Version, Members: m.Members, Ordinals: m.Ordinals, Retired: m.Retired}
	switch c := theirs.Compare(r.Set()); {
	case c == 0:
		return true
	case c < 0: // this member's hail tells it
		r.peers[from].greeted, r.peers[from].known = false, false
		return false
	}
	r.peers[from].greeted, r.peers[from].known, r.peers[from].differs = false, false, true
	switch err := theirs.Valid(r.n); {
	case err != nil:
		ignore(env, node.ID(r.set[from]), m, "its set counts nowhere: "+err.Error())
	case !slices.Contains(theirs.Members, string(r.set[from])):
		ignore(env, node.ID(r.set[from]), m, "it has no seat in the set that it tells of")
	case !slices.Contains(theirs.Members, string(r.c.Self)):
		r.unseat(env, theirs)
	case r.moving == nil || r.moving.Compare(theirs) < 0:
		r.move(env, theirs)
	}
	return false
}

// unseat silences a member whose seat another address has. Its disk tells nothing that the group lacks.
func (r *membership) unseat(env node.Env, s seats.Set) {
	reached(env, "lease/unseated")
	r.loseAll(env)
	r.becomeMute(env, "another address has this member's seat, the set is now %s: stop this node", strings.Join(s.Members, ","))
}

// tellStranger tells a node that has a seat no longer of the set, so that it falls silent. It returns
// false for any other node.
func (r *membership) tellStranger(env node.Env, a node.Addr, hail *message.LeaseHail) bool {
	if !slices.Contains(r.c.Set.Retired, string(a)) {
		return false
	}
	if hail == nil || !hail.Answer && hail.Version < r.c.Set.Version {
		r.post.Post(env, a, r.hailOf(0))
	}
	return true
}
