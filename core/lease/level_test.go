package lease

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/message/record"
	"hyperscale/core/node"
)

// versions are those of the members of a group, as all of them hear each other.
type versions struct {
	g      *group
	silent map[node.Addr]bool
}

func (v *versions) Minor(a node.Addr) (uint16, bool) {
	for _, h := range v.g.members {
		if h.config.Self == a {
			return h.self.Minor, h.r != nil && !v.silent[a]
		}
	}
	return 0, false
}

// leveled is a group whose members are of these versions.
func leveled(t *testing.T, minors ...uint16) (*group, *versions) {
	t.Helper()
	names := []string{"a", "b", "c"}[:len(minors)]
	g := newGroup(names, small(), 7)
	v := &versions{g: g, silent: map[node.Addr]bool{}}
	for i, h := range g.members {
		h.self.Minor, h.config.Versions = minors[i], v
		h.begin()
	}
	g.advance(time.Second)
	return g, v
}

func levels(g *group) string {
	var all []string
	for _, h := range g.members {
		if h.r != nil {
			all = append(all, fmt.Sprintf("%s=%d", h.name, h.r.Level()))
		}
	}
	return strings.Join(all, " ")
}

func (h *host) raise(to uint16) {
	h.r.Raise(h, to)
	h.r.Flush(h)
	h.drain()
}

// A group has a level only once each configured member has told its version; it names those that hold
// it back.
func TestALevelNeedsAllMembers(t *testing.T) {
	g, v := leveled(t, 1, 1, 0)
	a := g.host("a")
	for _, c := range []struct {
		when string
		do   func()
		held string
	}{
		{"c is older", func() {}, "c:1 is of version 1.0: start version 1.1 there"},
		{"b is not heard", func() { g.host("c").self.Minor = 1; v.silent["b:1"] = true }, "b:1 is not heard: start it"},
	} {
		c.do()
		a.raise(1)
		g.advance(time.Second)
		if got := levels(g); got != "a=0 b=0 c=0" {
			t.Fatalf("%s, and the levels are %s", c.when, got)
		}
		if got := a.r.Version(a); !slices.Equal(got.Held, []string{c.held}) || got.Target != 1 || got.Level != 0 {
			t.Errorf("%s: %+v", c.when, got)
		}
	}
	delete(v.silent, "b:1")
	a.raise(1)
	g.advance(time.Second)
	if got := levels(g); got != "a=1 b=1 c=1" {
		t.Errorf("all are of version 1, and the levels are %s", got)
	}
	if got := a.r.Version(a); got.Held != nil || !got.Agreed || got.Level != 1 {
		t.Errorf("%+v", got)
	}
}

// One member's word raises no level: not an order to raise it, and not that it has a higher one.
func TestAMemberThatLiesRaisesNoLevel(t *testing.T) {
	g, _ := leveled(t, 1, 1, 0)
	for _, m := range []*message.LeaseLevel{{Group: "gates", Raise: 1}, {Group: "gates", Level: 1}, {Group: "gates", Level: 9, Raise: 9}} {
		m.Group = g.host("b").config.Group
		g.post(g.host("a"), 1, m)
		g.advance(time.Second)
		if got := levels(g); got != "a=0 b=0 c=0" {
			t.Fatalf("after %+v the levels are %s", m, got)
		}
	}
}

// A level outlives restarts, and a member that was away when it rose learns it. It never falls.
func TestALevelNeverFalls(t *testing.T) {
	g, v := leveled(t, 1, 1, 1)
	c := g.host("c")
	g.latency = func(from, to int, _ node.Message) []time.Duration {
		if to == c.index {
			return nil
		}
		return []time.Duration{time.Millisecond}
	}
	g.host("a").raise(1)
	g.advance(time.Second)
	c.crash(false)
	v.silent["c:1"] = true
	if got := levels(g); got != "a=1 b=1" {
		t.Fatalf("the levels are %s", got)
	}
	g.latency = func(int, int, node.Message) []time.Duration { return []time.Duration{time.Millisecond} }
	for _, disk := range []bool{false, true} {
		c.crash(disk)
		delete(v.silent, "c:1")
		c.begin()
		g.advance(5 * time.Second)
		if got := levels(g); got != "a=1 b=1 c=1" || !c.r.Speaks() {
			t.Errorf("c is back, its disk lost: %v, and the levels are %s", disk, got)
		}
	}
	for _, h := range g.members {
		h.crash(false)
	}
	for _, h := range g.members {
		h.begin()
	}
	if got := levels(g); got != "a=1 b=1 c=1" {
		t.Errorf("all restart, and the levels are %s", got)
	}
}

// A node of an older version does not take part once the level is above it: it falls silent with the
// reason, and the others do not count it.
func TestAnOlderNodeTakesNoPart(t *testing.T) {
	g, _ := leveled(t, 2, 2, 2)
	var alarms []string
	g.watch = func(h *host, e node.Event) {
		if a, ok := e.(event.GroupAlarm); ok {
			alarms = append(alarms, h.name+": "+a.Reason)
		}
		if _, ok := e.(event.GroupJoined); ok && h.self.Minor < 2 {
			t.Errorf("%s of version 1.%d takes part", h.name, h.self.Minor)
		}
	}
	g.host("a").raise(2)
	g.advance(time.Second)
	c := g.host("c")
	for _, lost := range []bool{false, true} {
		alarms = nil
		c.crash(lost)
		c.self.Minor = 1
		c.begin()
		g.advance(5 * time.Second)
		if c.r.Speaks() {
			t.Errorf("c, its disk lost: %v, takes part", lost)
		}
		want := "a: c:1 is of version 1.1, and the group has level 1.2: start version 1.2 or newer there"
		if !lost {
			want = "c: this disk has level 1.2, and this node is of version 1.1: start version 1.2 or newer"
		}
		if !slices.Contains(alarms, want) {
			t.Errorf("its disk lost: %v, and the alarms are %q", lost, alarms)
		}
	}
	c.crash(false)
	c.self.Minor = 2
	c.begin()
	g.advance(5 * time.Second)
	if !c.r.Speaks() || c.r.Level() != 2 {
		t.Errorf("the right version of c does not take part: %s", levels(g))
	}
}

// A version that knows no levels reads the mark as that of another set. It compares the members of the
// mark with its own, and counts the generations.
func TestAMarkWithALevelIsOfAnotherSetToOldVersions(t *testing.T) {
	g, _ := leveled(t, 1, 1, 1)
	h := g.host("a")
	read := func() (m record.Member) {
		if err := record.Read(h.records[h.r.key("member")], &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	if m := read(); !slices.Equal(m.Members, h.r.names) || m.Level != 0 {
		t.Fatalf("before the level rises the mark is %+v", m)
	}
	h.raise(1)
	g.advance(time.Second)
	m := read()
	if slices.Equal(m.Members, h.r.names) || len(m.Members) != len(m.Generations) || m.Level != 1 || !strings.Contains(strings.Join(m.Members, ","), "needs hyperscale of protocol version 1.1 or newer") {
		t.Errorf("the mark is %+v", m)
	}
}
