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

// Two members with different sets exchange hails alone. One that takes a later set writes it to its mark,
// and starts again in it: a restart is what each part of a member is proved to survive. One member's word
// gives no seat away while this member hears the one that has it.

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
	case r.n < 3:
		return fmt.Errorf("a group of %d cannot lose a disk: recover it with the new set", r.n)
	case at < 0:
		return fmt.Errorf("%s has no seat in %s: name one of those", old, strings.Join(r.names, ","))
	case at == r.self:
		return fmt.Errorf("%s is this member: ask another one", old)
	case slices.Contains(r.set, to) || slices.Contains(r.c.Set.Retired, string(to)):
		return fmt.Errorf("%s has or had a seat: give it an address that is new to the group", to)
	case to == "" || len(to) > addressMax:
		return fmt.Errorf("an address has 1 to %d bytes, %q has %d", addressMax, to, len(to))
	case r.hears(env, old):
		return fmt.Errorf("%s still answers: stop that node, and ask again", old)
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

// Holders counts the members of a set that changed which are known to have it on disk, this one included. A node that
// still joins erases its disk when it starts, and counts for none.
func (r *membership) Holders() (n int) {
	if r.standing.speaks() {
		n++
	}
	return n + r.holders.count()
}

// Moving says that this member's disk gets a later set.
func (r *membership) Moving() bool { return r.moving != nil }

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

// hears reports whether another member may live.
func (r *membership) hears(env node.Env, a node.Addr) bool {
	return r.c.Order == nil || r.c.Order.Hears(env.Now(), a)
}

// rumors are the last later sets that nodes tell, one of each.
type rumors []rumor

type rumor struct {
	by  string
	set seats.Set
}

// note notes what a node tells, and reports whether it is new. A member of a set always finds room, and as many others.
func (r *rumors) note(by string, s seats.Set, members []string) bool {
	strangers := 0
	for i := range *r {
		w := &(*r)[i]
		if w.by == by {
			news := !w.set.Is(s)
			w.set = s
			return news
		}
		if !slices.Contains(members, w.by) {
			strangers++
		}
	}
	if strangers >= len(members) && !slices.Contains(members, by) {
		return false
	}
	*r = append(*r, rumor{by, s})
	return true
}

func (r *rumors) forget(by string) {
	*r = slices.DeleteFunc(*r, func(w rumor) bool { return w.by == by })
}

// of counts those that tell the very same set.
func (r rumors) of(s seats.Set) (n int) {
	for i := range r {
		if r[i].set.Is(s) {
			n++
		}
	}
	return n
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
	p := &r.peers[from]
	r.holders.drop(from)
	if r.standing.speaks() && m.Epoch != r.epoch {
		p.greeted = false
		return m.Epoch > r.epoch // a recovery: the set of the earlier epoch counts no more
	}
	theirs := setOf(m)
	switch c := theirs.Compare(r.Set()); {
	case c == 0:
		if standing(m.Standing).speaks() {
			r.holders.add(from)
		}
		r.rumors.forget(r.names[from])
		return true
	case c < 0: // this member's hail tells it
		r.rumors.forget(r.names[from])
		p.greeted, p.known = false, false
		return false
	}
	p.greeted, p.known, p.differs = false, false, true
	r.hearLater(env, r.set[from], m)
	return false
}

func setOf(m *message.LeaseHail) seats.Set {
	return seats.Set{Version: m.Version, Members: m.Members, Ordinals: m.Ordinals, Retired: m.Retired}
}

// hearLater judges a later set by all that tell it: members of this one's set, and for a node without a disk
// members of the set that they tell, as its own may be old. A majority may move or silence this member. One
// alone may only give away the seat of another one that this member hears no longer.
func (r *membership) hearLater(env node.Env, from node.Addr, m *message.LeaseHail) {
	theirs, peer := setOf(m), node.ID(from)
	switch err := theirs.Valid(r.n); {
	case err != nil:
		ignore(env, peer, m, "its set counts nowhere: "+err.Error())
		return
	case !slices.Contains(theirs.Members, string(from)):
		ignore(env, peer, m, "it has no seat in the set that it tells of")
		return
	}
	news, seated := r.rumors.note(string(from), theirs, r.names), slices.Contains(theirs.Members, string(r.c.Self))
	told := r.rumors.of(theirs) >= r.majority
	left, next := theirs.Follows(r.c.Set)
	switch {
	case told && !seated:
		r.unseat(env, theirs)
	case told || seated && next && r.standing.speaks() && !r.hears(env, node.Addr(left)):
		if r.moving == nil || r.moving.Compare(theirs) < 0 {
			r.move(env, theirs)
		}
	case news && next && r.standing.speaks() && r.rumors.of(theirs) == 1:
		what := "this member hears " + left
		if !seated {
			what = "that is this member"
		}
		r.alarm(env, fmt.Sprintf("%s says that the set is now %s without %s, %s, and a majority does not say so: stop %s if an operator replaced it, and find out why %s says so if not",
			from, strings.Join(theirs.Members, ","), left, what, left, from), nil)
	case news:
		ignore(env, peer, m, "a majority does not tell its set yet")
	}
}

// unseat silences a member whose seat another address has. Its disk tells nothing that the group lacks.
func (r *membership) unseat(env node.Env, s seats.Set) {
	reached(env, "lease/unseated")
	r.loseAll(env)
	r.becomeMute(env, "another address has this member's seat, the set is now %s: stop this node", strings.Join(s.Members, ","))
}

// TellRetired tells a node that has a seat no longer which set is now.
func (r *membership) TellRetired(env node.Env, a node.Addr) { r.tellStranger(env, a, nil) }

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
