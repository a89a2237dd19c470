package admission

import (
	"fmt"
	"testing"

	"hyperscale/core/node"
)

// BenchmarkAppoint is what an appointment costs, of one source that comes again and of many.
func BenchmarkAppoint(b *testing.B) {
	for _, n := range []int{1, 5000} {
		b.Run(fmt.Sprint(n, " sources"), func(b *testing.B) {
			d := loaded(node.Normal, 100)
			names := make([]string, n)
			for i := range names {
				names[i] = fmt.Sprintf("10.0.%d.%d", i/256, i%256)
			}
			now, i := node.Instant(0), 0
			b.ReportAllocs()
			for b.Loop() {
				now = now.Add(ms)
				if wait := d.Appoint(now, node.Normal, names[i%n]); wait < retryMin || wait > retryMax {
					b.Fatalf("an appointment in %v", wait)
				}
				i++
			}
		})
	}
}
