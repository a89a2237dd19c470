package scenarios_test

import (
	"testing"
	"time"

	"hyperscale/scenarios"
)

// A storm as the swarm plays it: all roles, all faults, all judges.
func BenchmarkStorm(b *testing.B) {
	storm, err := scenarios.Find("storm")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	var events, seed uint64
	var virtual time.Duration
	for b.Loop() {
		seed++
		r := storm.Run(scenarios.Options{Seed: seed, Virtual: 10 * time.Minute})
		if r.Outcome != scenarios.OK {
			b.Fatalf("seed %d: %s: %s", seed, r.Outcome, r.Detail)
		}
		events += r.Events
		virtual += r.Virtual
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(virtual.Seconds()/b.Elapsed().Seconds(), "x-real-time")
}
