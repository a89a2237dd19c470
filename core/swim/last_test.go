package swim

import (
	"fmt"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// A member of a group of seventeen that learnt a suspicion by gossip asks the suspect before
// its verdict, for any random draw: it may have missed the refutation.
func TestAllOfASmallGroupAskTheSuspect(t *testing.T) {
	for _, others := range []int{2, 9, askers} {
		for at := range 20 {
			w, g := quiet(func(c *Config) { c.GossipFanout = 0 })
			w.ReceiveDatagram(gossip("m"))
			for i := range others - 1 {
				w.ReceiveDatagram(gossip(fmt.Sprint("x", i)))
			}
			for range at {
				w.Rand(node.PurposeProbe).Int(2) // the choice is another draw
			}
			asked, over := false, false
			w.WatchDatagram = func(to node.Addr, m node.Message) {
				if q, ok := m.(*message.SwimGossip); ok && to == "m:1" && len(q.News) == 1 && q.News[0].Node == "m" {
					asked = true
				}
			}
			w.ReceiveDatagram(gossip("x0", message.SwimNews{Node: "m", Addr: "m:1", Incarnation: firstOf(1), State: uint8(Suspect), By: "p"}))
			i, _ := g.table.find("m")
			for range 120 {
				w.Advance(time.Second)
				over = over || g.table.records[i].state == Dead
			}
			if !asked || !over {
				t.Fatalf("of %d others, after %d draws: it asked the suspect: %v, and took it for dead: %v", others, at, asked, over)
			}
		}
	}
}
