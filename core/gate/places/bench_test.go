package places

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkPrefer is a look at the favourite among as many datacenters as a gate may know.
func BenchmarkPrefer(b *testing.B) {
	for _, n := range []int{3, 64} {
		b.Run(fmt.Sprint(n, " datacenters"), func(b *testing.B) {
			var names []string
			for i := range n {
				names = append(names, fmt.Sprintf("dc-%d", i))
			}
			p := newRated(names...)
			for i, name := range names {
				p.beat(name, 50+i%50, time.Duration(i)*time.Millisecond)
			}
			draw := func(int) int { return 0 }
			b.ReportAllocs()
			for b.Loop() {
				p.now = p.now.Add(time.Second)
				p.Prefer(p.now, false, draw)
			}
			if p.Favourite() == nil {
				b.Fatal("the gate favours none")
			}
		})
	}
}
