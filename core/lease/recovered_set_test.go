package lease

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/node"
)

// An operator recovers a group from one disk under another set, smaller or larger. All of the
// new set become members. The recovered one stays a member when it restarts, and another member
// continues with the last holder's record.
func TestRecoveredUnderAnotherSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := []string{"a", "b", "c", "d", "e", "f"}
		g := newGroup(names, small(), rapid.Uint64().Draw(t, "seed"))
		choose := func(what string, least int) []*host {
			all := rapid.Permutation(g.members).Draw(t, what)
			return all[:rapid.IntRange(least, len(all)).Draw(t, what+" count")]
		}
		configure := func(set []*host) {
			for _, h := range g.members {
				h.config.Members = nil
				for _, other := range set {
					h.config.Members = append(h.config.Members, other.self.Addr)
				}
			}
		}
		old := choose("old", 1)
		configure(old)
		for _, h := range old {
			h.begin()
		}
		g.advance(time.Second)
		holder, keeps := old[0], old[len(old)-1]
		holder.r.Acquire(holder, jobN(1), []byte("record"))
		g.advance(time.Second)
		for _, h := range old {
			h.crash(h != keeps)
		}

		set := choose("new", 1)
		if !hosts(set).has(keeps.self.Addr) {
			set[0] = keeps
		}
		configure(set)
		keeps.config.Recover = true
		for _, h := range set {
			h.begin()
		}
		g.advance(2 * time.Minute)
		keeps.config.Recover = false
		keeps.crash(false)
		keeps.begin()
		g.advance(time.Minute)
		for _, h := range set {
			if epoch, speaks := h.r.Epoch(); epoch != 1 || !speaks {
				t.Fatalf("%s of %v, before it of %v: epoch %d, speaks %v", h.self.ID, h.config.Members, hosts(old), epoch, speaks)
			}
		}
		next := rapid.SampledFrom(set).Draw(t, "next")
		next.r.Acquire(next, jobN(1), []byte("lost"))
		g.advance(time.Minute)
		if reg := next.r.registers[jobN(1)]; string(reg.accepted.Record) != "record" || int(reg.accepted.Token.Ordinal) != next.r.self+1 {
			t.Fatalf("%s owns nothing, or with another record: %+v", next.self.ID, reg.accepted)
		}
	})
}

type hosts []*host

func (s hosts) has(a node.Addr) bool {
	for _, h := range s {
		if h.self.Addr == a {
			return true
		}
	}
	return false
}

func (s hosts) String() string {
	text := ""
	for _, h := range s {
		text += string(h.self.Addr) + " "
	}
	return text
}
