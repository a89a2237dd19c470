package election

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// A voter that has led and lost FlapLimit times within FlapWindow does not stand for FlapPause,
// unless a leader hands over to it. It stands anyway once it has known no leader for Leaderless
// timeouts: the group needs one.
func TestFlappingVotersStandBack(t *testing.T) {
	calmed := 0
	rapid.Check(t, func(t *rapid.T) {
		g := newGroup(t, 3)
		c := &g.toys[0].config
		var changes [3][]time.Duration // of the voter's own leadership
		var until, led [3]time.Duration
		change := func(i int) {
			changes[i] = slices.DeleteFunc(changes[i], func(at time.Duration) bool { return g.now-at >= c.FlapWindow })
			if changes[i] = append(changes[i], g.now); len(changes[i]) >= c.FlapLimit {
				changes[i], until[i] = nil, g.now+c.FlapPause
				calmed++
			}
		}
		for i, e := range g.envs {
			judge := e.WatchEvent
			e.WatchEvent = func(v node.Event) {
				judge(v)
				switch v := v.(type) {
				case event.Elected:
					change(i)
				case event.SteppedDown:
					if !strings.HasPrefix(v.Reason, "handed over") {
						change(i)
					}
				}
			}
			x := g.toys[i]
			x.config.FlapPause, x.config.FlapWindow = 6*time.Second, 20*time.Second
			post := x.post
			x.post = func(to node.Addr, m node.Message) {
				post(to, m)
				ask, ok := m.(*message.VoteAsk)
				if !ok || ask.Handed || g.now >= until[i] {
					return
				}
				if alone := g.now - led[i]; alone < time.Duration(c.Leaderless-1)*c.TimeoutMin { // with the first timeout it knows none
					t.Fatalf("at %v g%d stands, it knew a leader %v ago; it led and lost too often, and stands back until %v", g.now, i+1, alone, until[i])
				}
			}
			x.SetFitness(e, rapid.SampledFrom([]int{0, 6}).Draw(t, "fitness"))
		}
		live := func(d time.Duration) {
			for end := g.now + d; g.now < end; {
				g.advance(5*time.Millisecond, nil)
				for i, x := range g.toys {
					if _, _, known := x.Leader(); known {
						led[i] = g.now
					}
				}
			}
		}
		live(3 * time.Second)
		for range rapid.IntRange(4, 8).Draw(t, "cuts") {
			lost := rapid.IntRange(0, 2).Draw(t, "other")
			for i, x := range g.toys {
				if x.Leads(g.envs[i].Now()) {
					lost = i
				}
			}
			for other := range 3 {
				g.cut[[2]int{lost, other}], g.cut[[2]int{other, lost}] = true, true
			}
			live(time.Duration(rapid.IntRange(200, 2500).Draw(t, "cut for")) * time.Millisecond)
			clear(g.cut)
			live(time.Duration(rapid.IntRange(100, 3000).Draw(t, "whole for")) * time.Millisecond)
		}
	})
	if calmed == 0 {
		t.Error("no voter led and lost too often")
	}
}
