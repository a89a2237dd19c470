// Package report turns the result of a job into what people and scripts keep: the
// result file of `--out json=FILE`. The summary has the same figures.
//
// It does not measure, merge or judge (executors, managers and the gate did), and
// it draws nothing (runtime/ui does).
//
// Source: docs/result.md, which this package's test with -rewrite generates from the
// structs of result.go. Fields may be added, never renamed.
//
// Invariants:
//
//	REPORT-1 started = ok + failed + timed_out + cancelled for every step, workflow,
//	         datacenter and the whole.
//	REPORT-2 The totals of a whole are the sums of its subjobs. A quantile is computed from
//	         merged histograms, never from other quantiles.
//	REPORT-3 Times and values are integers: nanoseconds, thousandths, parts per million.
//	         Only a course's quantiles are estimates, and are named so.
//	REPORT-4 A file is there whole or not at all.
//
// Read result.go (the file's shape), build.go, measures.go, workers.go, buckets.go, series.go, load.go, write.go, read.go.
package report
