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
