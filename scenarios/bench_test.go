package scenarios_test

import (
	"testing"

	"hyperscale/scenarios"
)

// What one run of each world costs: -bench 'World/^reconnect-flood$' -cpuprofile shows why a
// world is slow in a swarm.
func BenchmarkWorld(b *testing.B) {
	for _, s := range scenarios.All() {
		b.Run(s.Name, func(b *testing.B) {
			b.ReportAllocs()
			events := uint64(0)
			seed := uint64(0)
			for b.Loop() {
				seed++
				events += s.Run(scenarios.Options{Seed: seed}).Events
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
		})
	}
}
