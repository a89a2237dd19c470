package swim

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// A node that pauses beyond any timer of a suspicion asks the suspect afterwards. It gives its
// verdict only once it has run for a ProbeTimeout since. The verdict arrives.
func TestVerdictOfAStoppedNodeWaitsForTheAnswer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members := rapid.SampledFrom([]int{20, 0, 1, 2, 5, 12, 16, 17}).Draw(t, "members")
		by := rapid.SampledFrom([]string{"a", "p"}).Draw(t, "by")
		w, g := quiet(func(c *Config) { c.GossipFanout = 0 })
		w.ReceiveDatagram(gossip("m"))
		for i := range members {
			w.ReceiveDatagram(gossip(fmt.Sprint("x", i)))
		}
		i, _ := g.table.find("m")
		accuse := func(by string) {
			w.ReceiveDatagram(gossip("b", message.SwimNews{Node: "m", Addr: "m:1", Incarnation: firstOf(1), State: uint8(Suspect), By: by}))
		}
		var asked, died node.Instant // since the last stop
		stopped := false
		w.WatchDatagram = func(to node.Addr, m node.Message) {
			if q, ok := m.(*message.SwimGossip); ok && to == "m:1" && len(q.News) == 1 && q.News[0].Node == "m" {
				asked = w.Now()
			}
		}
		w.WatchEvent = func(e node.Event) {
			if c, ok := e.(event.MemberChanged); ok && c.Member == "m" && c.To == Dead.String() {
				died = w.Now()
			}
		}
		accuse(by)
		oversleep := func(length time.Duration) {
			w.Oversleep(length)
			if s := g.suspicion(i); s != nil && w.Now().Sub(s.due) > g.config.LagBound {
				stopped, asked = true, 0
			}
		}
		for _, step := range rapid.SliceOfN(rapid.IntRange(0, 119), 0, 30).Draw(t, "steps") {
			s := g.suspicion(i)
			if s == nil {
				break
			}
			length := time.Duration(step/6) * 150 * time.Millisecond
			switch step % 6 {
			case 0:
				w.Advance(length)
			case 1:
				oversleep(length)
			case 2:
				accuse(fmt.Sprint("c", step))
			case 3: // it pauses just before a timer, and continues just too late for it
				w.Advance(max(0, s.due.Sub(w.Now())-1))
				oversleep(g.config.LagBound + 2)
				w.Advance(0)
			case 4, 5: // or just before the verdict, too late for an answer
				w.Advance(max(0, s.due.Sub(w.Now())-1))
				oversleep(max(0, s.deadline.Sub(w.Now())-length/8))
				w.Advance(0)
			}
		}
		w.Advance(2 * time.Minute)
		switch {
		case died == 0:
			t.Fatal("nothing refutes the suspicion, and there is no verdict")
		case stopped && (asked == 0 || died.Sub(asked) < g.config.ProbeTimeout):
			t.Fatalf("it was stopped, asked the suspect at %v, and took it for dead at %v", asked, died)
		}
	})
}
