package lifeguard

import (
	"fmt"
	"runtime"
	"testing"
	"time"
)

// Healthy members, each probed once a second: how many times faster than real time one core
// plays them, and their memory. The benchmark does not count the beginning, when all join.
func BenchmarkSteady(b *testing.B) {
	for _, members := range []int{1000, 10_000} {
		b.Run(fmt.Sprintf("members=%d", members), func(b *testing.B) {
			b.ReportAllocs()
			r := crowd(1, members, &Settings()[Ours], Anomaly{})
			r.world.RunUntil(anomalyAt)
			before := r.world.Now()
			for b.Loop() {
				r.world.RunUntil(r.world.Now() + time.Second)
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric((r.world.Now()-before).Seconds()/b.Elapsed().Seconds(), "x-real-time")
			b.ReportMetric(float64(m.Sys)/(1<<30), "GiB")
		})
	}
}
