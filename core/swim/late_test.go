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

// A node that is stopped past any timer of a suspicion asks the suspect afterwards, and
// gives its verdict only once it has run for a ProbeTimeout since. The verdict comes.
func TestVerdictOfAStoppedNodeWaitsForTheAnswer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members := rapid.IntRange(0, 20).Draw(t, "members")
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
		for _, step := range rapid.SliceOfN(rapid.IntRange(0, 59), 0, 30).Draw(t, "steps") {
			s := g.suspicions[i]
			if s == nil {
				break
			}
			length := time.Duration(step/3) * 150 * time.Millisecond
			switch step % 3 {
			case 0:
				w.Advance(length)
			case 1:
				w.Oversleep(length)
				if w.Now().Sub(s.due) > g.config.LagBound {
					stopped, asked = true, 0
				}
			case 2:
				accuse(fmt.Sprint("c", step))
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
