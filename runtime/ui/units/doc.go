// Package units writes numbers for people: counts, shares, bytes, latencies, durations, and how one
// run differs from another. The summary, the live screen, the HTML report and ping share it.
//
// Example:
//
//	units.Count(12_345)     // "12,345"
//	units.Latency(1_500_000) // "1.50ms"
//
// Read format.go, changes.go.
package units
