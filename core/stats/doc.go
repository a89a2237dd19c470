// Package stats holds the distributions of a run and adds up what many executors
// measured.
//
// It does not measure (runtime/engine), judge thresholds (core/gate) or show
// anything (runtime/ui).
//
// Source: DESIGN.md, "Engine". A histogram is log-linear in integers, with 256 sub-buckets
// an octave. So a quantile is at most 1/256 (0.4 %) too high, and values below 512 are
// exact. HdrHistogram is its twin in tests, not its code.
//
// Invariants:
//
//	STATS-1 Count, Min, Max and Sum are exact (a Sum or a count beyond 64 bits stays
//	        at the largest number). Min <= Quantile(any) <= Max.
//	STATS-2 Merging is associative and commutative; merging what two recorded is what
//	        one would have recorded.
//	STATS-3 Record allocates nothing once the octave of its value is in use.
//	STATS-4 FromWire(h.Wire()) equals h. FromWire of hostile bytes allocates a bounded
//	        amount and accepts only what some Histogram could have written.
//	STATS-5 Fit loses precision before it loses anything else, and says how much. Windows in
//	        time become coarser and go first, then the precision of phases. A coarser value errs upwards, and
//	        STATS-1 holds for it.
//	STATS-6 No message changes: what Sum returns shares no memory that it writes to,
//	        and Fit copies what it changes.
//	STATS-7 A series in time has at most WindowsMax windows, and memory for the octaves that
//	        their latencies span, however long the run. Merging is exact, at the width and the
//	        buckets of the coarser series, associative and commutative. A sum has no windows
//	        where one of its parts has none.
//	STATS-8 Memory grows with the number of series, which is bounded: beyond the
//	        bounds of sum.go one series, KindOther or StatusOther, counts the rest.
//	STATS-9 Spans divide a workflow's time without a gap, and merge exactly. The spans of a
//	        step add up to its counts and distributions.
//
// Example:
//
//	var h stats.Histogram
//	h.Record(1_500_000)
//	p99 := h.Quantile(990_000)
//	sent := message.StepStats{Latency: h.Wire()}
//
// Read histogram.go, wire.go, windows.go (a series in time), course.go (the same in
// messages), activity.go, spans.go, silent.go, sum.go, measures.go, sparse.go,
// dense.go, fit.go.
package stats
