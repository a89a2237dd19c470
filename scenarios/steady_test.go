package scenarios_test

import (
	"testing"
	"time"

	"hyperscale/scenarios"
)

// The world of the published figures: how many times faster than real time one core plays it.
func BenchmarkSteady(b *testing.B) {
	steady, err := scenarios.Find("steady")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	var virtual time.Duration
	seed := uint64(0)
	for b.Loop() {
		seed++
		r := steady.Run(scenarios.Options{Seed: seed, Virtual: time.Minute})
		if r.Outcome != scenarios.OK {
			b.Fatalf("seed %d: %s: %s", seed, r.Outcome, r.Detail)
		}
		virtual += r.Virtual
	}
	b.ReportMetric(virtual.Seconds()/b.Elapsed().Seconds(), "x-real-time")
}
