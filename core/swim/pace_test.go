package swim

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// SWIM-9: for any requests, in any span of time, a node sends at most what the rate pays for, twice
// the burst, and two lists more: one exceeds the budget, and one what it promised.
func TestListsKeepTheBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const rate, burst = 1000, 400
		w, _ := quiet(func(c *Config) { c.GossipFanout, c.ListRate, c.ListBurst = 0, rate, burst })
		for i := range rapid.IntRange(1, 12).Draw(t, "members") {
			w.ReceiveDatagram(gossip(fmt.Sprint("m", i)))
		}
		type list struct {
			at    node.Instant
			bytes int
		}
		var sent []list
		whole := 0 // bytes of the longest list
		put := false
		w.WatchDatagram = func(_ node.Addr, m node.Message) {
			q, ok := m.(*message.SwimGossip)
			put = put || ok && q.Members > 0
		}
		w.WatchSend = func(_ node.StreamID, m node.Message) {
			if l, ok := m.(*message.SwimList); ok {
				bytes := 0
				for i := range l.News {
					bytes += l.News[i].Bytes()
				}
				sent, whole = append(sent, list{w.Now(), bytes}), max(whole, bytes)
			}
		}
		on := w.Accept(peer("m0"))
		request := func() {
			w.Receive(on, &message.SwimList{Group: "dc1", Incarnation: firstOf(1), News: []message.SwimNews{about("m0", Alive, 1)}})
		}
		compare := func(answer bool) {
			w.ReceiveDatagram(peer("m0"), &message.SwimCompare{Group: "dc1", Incarnation: firstOf(1), Members: 1, View: 1, Answer: answer})
			for _, s := range w.Opening() {
				w.Opened(s, peer("m0"))
				w.Break(s, "cut")
			}
		}
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			w.Advance(rapid.SampledFrom([]time.Duration{0, 0, 300 * time.Microsecond, 50 * time.Millisecond, time.Second}).Draw(t, "wait"))
			step, pause := rapid.IntRange(0, 3).Draw(t, "step"), rapid.SampledFrom([]time.Duration{0, time.Second}).Draw(t, "pause")
			for range rapid.IntRange(1, 20).Draw(t, "times") {
				switch step {
				case 0:
					compare(false)
				case 1:
					compare(true)
				case 2:
					request()
				case 3:
					compare(false)
					request()
				}
				w.Advance(pause)
			}
		}
		for i := range sent {
			bytes := 0
			for k := i; k < len(sent); k++ {
				bytes += sent[k].bytes
				span := sent[k].at.Sub(sent[i].at)
				if most := 2*burst + 2*whole + int(span.Milliseconds()+1)*rate/1000; bytes > most {
					t.Fatalf("%d bytes of lists in %v, at most %d", bytes, span, most)
				}
			}
		}
		if !put && len(sent) == 0 {
			return
		}
		// The budget is whole again once it was paid for.
		w.Advance(time.Hour)
		before := len(sent)
		if compare(true); len(sent) == before {
			t.Fatal("after an hour there are no bytes for a list")
		}
	})
}

// A list counts as many bytes as it takes, whatever members join, restart elsewhere and are forgotten.
func TestTheSizeOfAListIsCounted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, g := quiet(func(c *Config) { c.ReapAge, c.GossipFanout = time.Minute, 0 })
		for range rapid.IntRange(1, 40).Draw(t, "news") {
			n := about(rapid.SampledFrom([]string{"b", "c", "dd", "eee"}).Draw(t, "member"), rapid.SampledFrom([]State{Alive, Alive, Dead, Left}).Draw(t, "state"), rapid.Uint64Range(1, 5).Draw(t, "run"))
			n.Addr += rapid.SampledFrom([]string{"", "1", "22"}).Draw(t, "port")
			w.ReceiveDatagram(gossip("b", n))
			w.Advance(rapid.SampledFrom([]time.Duration{0, 0, time.Second, 2 * time.Minute}).Draw(t, "wait"))
			bytes := 0
			for _, m := range g.Members() {
				bytes += listed(&Identity{ID: m.ID, Addr: m.Addr})
			}
			if g.table.bytes != bytes {
				t.Fatalf("a list counts %d bytes, and takes %d", g.table.bytes, bytes)
			}
		}
	})
}
