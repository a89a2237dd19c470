package swim

import (
	"fmt"
	"testing"

	"hyperscale/core/message"
)

// News of a thousand joined members wait: a letter takes as many as it has room for, and
// another member receives those that it knows.
func BenchmarkLetter(b *testing.B) {
	full := func() func() message.SwimNewsList {
		w, g := quiet(func(c *Config) { c.GossipFanout, c.GossipFactor = 0, 1<<12 })
		for i := range 1000 {
			w.ReceiveDatagram(gossip(fmt.Sprintf("worker-%04d", i)))
		}
		return func() message.SwimNewsList {
			return g.fill(w, nil, bodyMax-20, parcel{times: 1})
		}
	}
	b.Run("told", func(b *testing.B) {
		b.ReportAllocs()
		letter := full()
		for b.Loop() {
			letter()
		}
	})
	b.Run("heard", func(b *testing.B) {
		b.ReportAllocs()
		letter := full()
		w, _ := quiet(func(c *Config) { c.GossipFanout = 0 })
		for i := range 1000 {
			w.ReceiveDatagram(gossip(fmt.Sprintf("worker-%04d", i)))
		}
		news := letter()
		for b.Loop() {
			w.ReceiveDatagram(gossip("worker-0000", news...))
		}
	})
}

// A member that joins a group of ten thousand hears of all of them in a few pages of a list.
func BenchmarkJoin(b *testing.B) {
	var pages []message.SwimNewsList
	for i := range 10_000 {
		if i%2500 == 0 {
			pages = append(pages, nil)
		}
		name := fmt.Sprintf("worker-%05d", i)
		page := &pages[len(pages)-1]
		*page = append(*page, message.SwimNews{Node: name, Addr: name + ":1", Incarnation: firstOf(1)})
	}
	b.ReportAllocs()
	for b.Loop() {
		w, g := quiet(func(c *Config) { c.GossipFanout, c.MembersMax = 0, 20_000 })
		for _, news := range pages {
			w.ReceiveDatagram(gossip("worker-00000", news...))
		}
		if g.Size() < 10_000 {
			b.Fatalf("%d members are known", g.Size())
		}
	}
}
