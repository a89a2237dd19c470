package swim

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// strange draws a message from a member of this group, of another one, or an impostor, and
// reports whether the group must not believe it.
func strange(t *rapid.T) (from node.Peer, m node.Message, foreign bool) {
	name := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g", "h"})
	from = peer(name.Draw(t, "from"))
	from.Incarnation = rapid.Uint64Range(1, 2).Draw(t, "run")
	group := rapid.SampledFrom([]string{"dc1", "dc1", "dc1", "dc1", "dc2"}).Draw(t, "group")
	number := rapid.SampledFrom([]uint64{firstOf(1), firstOf(1), firstOf(1) + 1, firstOf(2), firstOf(2) + 1, 1, math.MaxUint64 - 1, math.MaxUint64})
	incarnation := rapid.SampledFrom([]uint64{firstOf(from.Incarnation), firstOf(from.Incarnation), firstOf(from.Incarnation) + 1, 7}).Draw(t, "incarnation")
	foreign = group != "dc1" || from.ID == "a" || incarnation < firstOf(from.Incarnation)
	news := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) message.SwimNews {
		who := name.Draw(t, "who")
		return message.SwimNews{
			Node: rapid.SampledFrom([]string{who, who, who, who, who, string(make([]byte, idMax+1))}).Draw(t, "node"), Addr: rapid.SampledFrom([]string{who + ":1", who + ":1", who + ":2", ""}).Draw(t, "addr"),
			Role: uint8(node.RoleWorker), Incarnation: number.Draw(t, "incarnation"), State: rapid.Uint8Range(0, 4).Draw(t, "state"),
			By: name.Draw(t, "by"), Age: rapid.SampledFrom([]time.Duration{0, 0, time.Second, time.Hour, -1}).Draw(t, "age"),
		}
	}), 0, 4).Draw(t, "news")
	sequence := rapid.Uint64Range(1, 5).Draw(t, "sequence")
	target := name.Draw(t, "target")
	yes := rapid.Bool()
	switch rapid.IntRange(0, 6).Draw(t, "kind") {
	case 0:
		return from, &message.SwimProbe{Group: group, Sequence: sequence, Target: rapid.SampledFrom([]string{"a", "a", target}).Draw(t, "probed"), Incarnation: incarnation,
			Version: rapid.Uint64Range(0, 3).Draw(t, "version"), Known: rapid.Uint64Range(0, 2).Draw(t, "known"), State: []byte("s"), News: news}, foreign
	case 1:
		return from, &message.SwimAck{Group: group, Sequence: sequence, Target: target, Incarnation: incarnation, Uptime: rapid.Uint64().Draw(t, "uptime"), News: news}, foreign
	case 2:
		return from, &message.SwimAsk{Group: group, Sequence: sequence, Target: target, Incarnation: incarnation, Nack: yes.Draw(t, "nack"), News: news}, foreign
	case 3:
		return from, &message.SwimNack{Group: group, Sequence: sequence, Target: target, Incarnation: incarnation}, foreign
	case 4:
		return from, &message.SwimCompare{Group: group, Incarnation: incarnation, Members: uint32(rapid.IntRange(0, 9).Draw(t, "members")), View: rapid.Uint64().Draw(t, "view"), Answer: yes.Draw(t, "answer")}, foreign
	case 5:
		return from, &message.SwimList{Group: group, Incarnation: incarnation, News: news, Answer: yes.Draw(t, "answer"), More: yes.Draw(t, "more")}, foreign
	}
	return from, &message.SwimGossip{Group: group, Incarnation: incarnation, News: news}, foreign
}

// view returns the public view of a group.
func view(g *Group) []Member {
	all := g.Members()
	for i := range all {
		all[i].App = nil
	}
	return all
}

// consistent checks what the group reports of its members against their list.
func consistent(t *rapid.T, g *Group) {
	all := g.Members()
	live, sum := 0, uint64(0)
	for i, m := range all {
		if i > 0 && all[i-1].ID >= m.ID || m.ID == "" || m.State >= Unknown {
			t.Fatalf("members are out of order, or none: %+v", all)
		}
		if found, ok := g.Find(m.ID); !ok || found.State != m.State || found.Incarnation != m.Incarnation {
			t.Fatalf("Find(%s) is %+v, the list has %+v", m.ID, found, m)
		}
		at, ok := g.FindAddr(m.Addr)
		if !ok || at.Addr != m.Addr || at.State.Gone() && !m.State.Gone() {
			t.Fatalf("at %s is %+v, the list has %+v", m.Addr, at, m)
		}
		if !m.State.Gone() {
			live++
			place, _ := g.table.find(m.ID)
			sum ^= g.table.records[place].portion()
		}
	}
	if g.Live() != live || g.view != sum {
		t.Fatalf("%d live with the view %x, the list comes to %d with %x: %+v", g.Live(), g.view, live, sum, all)
	}
	if self, ok := g.Find("a"); !ok || self.State != Alive || self.Incarnation != g.Incarnation() {
		t.Fatalf("this node is %+v of incarnation %d", self, g.Incarnation())
	}
	if _, ok := g.Find("nobody"); ok {
		t.Fatal("a node that was never named is found")
	}
	if _, ok := g.FindAddr("nowhere:1"); ok {
		t.Fatal("an address that was never named is found")
	}
	if len(all) > g.config.MembersMax || g.Waiting() > g.config.GossipMax || len(g.suspicions) > len(all) {
		t.Fatalf("%d members, %d pieces of news and %d suspicions are too many", len(all), g.Waiting(), len(g.suspicions))
	}
	for _, p := range g.buffer.pieces {
		if who := g.table.records[p.place].who; who == nil || !g.table.records[p.place].queued {
			t.Fatalf("news of a member that is no more wait: %+v", p)
		}
	}
}

// For any messages of members and strangers: the lists of a group agree with each other and
// keep their bounds. This node's incarnation never falls, and a message of another group or of
// an impostor changes nothing.
func TestViewsAgreeWhateverIsSent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		preset := rapid.SampledFrom([]func() Config{Default, Default, Paper, Plain}).Draw(t, "preset")()
		preset.Group = "dc1"
		preset.Seeds = rapid.SampledFrom([]seeds{nil, {"b:1", "c:1"}}).Draw(t, "seeds")
		preset.MembersMax = rapid.SampledFrom([]int{3, 5, 100}).Draw(t, "members max")
		preset.GossipMax = rapid.SampledFrom([]int{1, 3, 100}).Draw(t, "gossip max")
		preset.HoldMax = rapid.SampledFrom([]time.Duration{0, time.Minute}).Draw(t, "hold max")
		w, g := quiet(func(c *Config) { *c = preset })
		ignored := 0
		w.WatchEvent = func(e node.Event) {
			if _, ok := e.(event.Ignored); ok {
				ignored++
			}
		}
		own := g.Incarnation()
		for range rapid.IntRange(1, 40).Draw(t, "messages") {
			w.Advance(rapid.SampledFrom([]time.Duration{0, 0, 100 * time.Millisecond, time.Second, 40 * time.Second, 16 * time.Minute}).Draw(t, "wait"))
			for _, s := range w.Opening() {
				if rapid.Bool().Draw(t, "open") {
					w.Opened(s, peer(rapid.SampledFrom([]string{"b", "c"}).Draw(t, "opened")))
				} else {
					w.Break(s, "cut")
				}
			}
			before, seen := view(g), ignored
			from, m, foreign := strange(t)
			w.ReceiveDatagram(from, m)
			if foreign && (ignored == seen || !slices.EqualFunc(before, view(g), func(x, y Member) bool {
				return x.ID == y.ID && x.State == y.State && x.Incarnation == y.Incarnation && x.Addr == y.Addr
			})) {
				t.Fatalf("%s of %v: ignored %v, the view was %+v and is %+v", message.Name(m.Kind()), from, ignored > seen, before, view(g))
			}
			if g.Incarnation() < own {
				t.Fatalf("this node's incarnation falls from %d to %d", own, g.Incarnation())
			}
			own = g.Incarnation()
			consistent(t, g)
		}
	})
}

type seeds = []node.Addr
