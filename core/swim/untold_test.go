package swim

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// deathsTold returns how often a group sent others the death of a member. Sending it to the
// member itself does not count: that lets it refute.
func deathsTold(m node.Message, to node.Addr, member string) int {
	var news []message.SwimNews
	switch m := m.(type) {
	case *message.SwimProbe:
		news = m.News
	case *message.SwimAck:
		news = m.News
	case *message.SwimAsk:
		news = m.News
	case *message.SwimGossip:
		news = m.News
	}
	told := 0
	for _, n := range news {
		if n.Node == member && State(n.State) == Dead && to != node.Addr(member+":1") {
			told++
		}
	}
	return told
}

// SWIM-8: a node gossips its verdict only if another member confirmed the suspicion. If no
// member can confirm, or none is awaited, it gossips each verdict.
func TestAVerdictThatNoMemberConfirmsIsNotTold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members := rapid.IntRange(1, 30).Draw(t, "members")
		by := rapid.SampledFrom([]string{"a", "p"}).Draw(t, "by")
		preset := rapid.SampledFrom([]func() Config{Default, Default, Default, Paper, Plain}).Draw(t, "preset")()
		preset.Group, preset.Confirmations = "dc1", rapid.IntRange(0, 3).Draw(t, "confirmations")
		preset.GossipFactor = rapid.SampledFrom([]int{4, 40}).Draw(t, "factor") // 40: the suspicion still waits to be sent when the verdict follows
		w, g := quiet(func(c *Config) { *c = preset })
		w.ReceiveDatagram(gossip("m"))
		for i := range members {
			w.ReceiveDatagram(gossip(fmt.Sprint("x", i)))
		}
		told := 0
		w.WatchDatagram = func(to node.Addr, m node.Message) { told += deathsTold(m, to, "m") }
		// The others are alive and answer, so that the node does not believe that it is cut
		// off.
		answered := func(d time.Duration) {
			for ; d > 0; d -= 100 * time.Millisecond {
				w.Advance(100 * time.Millisecond)
				if r := &g.round; r.active && !r.acked && r.target != "m" {
					w.ReceiveDatagram(peer(string(r.target)), &message.SwimAck{Group: "dc1", Sequence: r.sequence, Target: string(r.target), Incarnation: firstOf(1)})
				}
			}
		}
		accuse := func(by string) {
			w.ReceiveDatagram(gossip("x0", message.SwimNews{Node: "m", Addr: "m:1", Incarnation: firstOf(1), State: uint8(Suspect), By: by}))
		}
		accuse(by)
		i, _ := g.table.find("m")
		s := g.suspicion(i)
		for range rapid.IntRange(0, 2).Draw(t, "witnesses") {
			answered(rapid.SampledFrom([]time.Duration{0, 500 * time.Millisecond}).Draw(t, "wait"))
			accuse(rapid.SampledFrom([]string{"x1", "x2", by}).Draw(t, "witness"))
		}
		answered(2 * time.Minute)
		if g.table.records[i].state != Dead {
			t.Fatal("there is no verdict")
		}
		confirmed := len(s.confirmed) > 0 || s.needed <= 0 || !preset.Distrust || !preset.HealthSuspicion
		if confirmed != (told > 0) {
			t.Fatalf("%d of %d confirmed the suspicion by %s, and the node told the death %d times", len(s.confirmed), s.needed, by, told)
		}
	})
}

// A list contains deaths that its owner does not gossip. A node that learns there of an unknown
// dead member does not gossip that either. It gossips a departure, and what it learnt by
// gossip.
func TestADeathThatOnlyAListToldIsNotTold(t *testing.T) {
	for _, r := range []struct {
		why   string
		list  bool
		state State
		told  bool
	}{
		{"a death in a list", true, Dead, false},
		{"a departure in a list", true, Left, true},
		{"a death by gossip", false, Dead, true},
	} {
		w, _ := quiet(nil)
		w.ReceiveDatagram(gossip("b"))
		told := false
		w.WatchDatagram = func(_ node.Addr, m node.Message) {
			if q, ok := m.(*message.SwimGossip); ok {
				for _, n := range q.News {
					told = told || n.Node == "m"
				}
			}
		}
		if news := []message.SwimNews{about("m", r.state, 1)}; r.list {
			w.Receive(w.Accept(peer("b")), &message.SwimList{Group: "dc1", Incarnation: firstOf(1), News: news})
		} else {
			w.ReceiveDatagram(gossip("b", news...))
		}
		if w.Advance(time.Second); told != r.told {
			t.Errorf("%s: told %v, want %v", r.why, told, r.told)
		}
	}
}
