package stats

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// spread are latencies whose logarithm is normally distributed: half of them are below 5 ms, and
// one of a thousand is above 100 ms.
func spread() (out [4096]uint64) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range out {
		out[i] = uint64(5e6 * math.Exp(rng.NormFloat64()))
	}
	return out
}

// BenchmarkWindowsRecord: ten thousand ends a second, in a run that outgrows its windows.
func BenchmarkWindowsRecord(b *testing.B) {
	b.ReportAllocs()
	var w Windows
	values := spread()
	at, i := time.Duration(0), 0
	for b.Loop() {
		w.At(at).OK++
		w.Record(at, values[i%len(values)])
		at += 100 * time.Microsecond
		i++
	}
}

// BenchmarkWindowsWire: what each second of a run costs for each step.
func BenchmarkWindowsWire(b *testing.B) {
	b.ReportAllocs()
	var w Windows
	values := spread()
	for i := range WindowsMax * 100 {
		w.Record(time.Duration(i)*WindowWidth/100, values[i%len(values)])
	}
	for b.Loop() {
		w.Wire()
	}
}
