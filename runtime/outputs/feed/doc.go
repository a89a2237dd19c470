// Package feed makes rows of a job's statuses and of its result, and gives them to the sinks of a command.
//
// It does not deliver (runtime/outputs does) and knows no kind of place.
//
// Source: outputs in DESIGN.md. A status has sums since the begin of the job, so a row is the difference of two
// statuses: a status that is lost makes a row wider, and no figure wrong.
//
// Invariants:
//
//	OUTFEED-1 For each datacenter, workflow and step: the sum of its window rows is its result row plus its lost
//	       rows, for each count, status, kind of error and bucket. The sum of latencies is exact too while no
//	       attempt is lost, else as exact as its buckets. Rows marked Blunt have no distribution, and a step
//	       that has one promises counts alone.
//	OUTFEED-2 Window rows of one key do not overlap, and no count of a row falls below zero.
//	OUTFEED-3 The time of a row is the acceptance of the job, by this machine's clock at the first status, plus a
//	       multiple of the window. What a status tells up to the first one behind a boundary is in that row.
//	OUTFEED-4 Apply never waits, whatever the sinks do.
//
// Read feed.go, fall.go, end.go, deliveries.go.
package feed
