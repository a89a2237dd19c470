// Package output makes the rows of a job out of its statuses and its result, and says which of them a sink gets next.
//
// It sends nothing: a gate (core/gate) persists what a stream asks for, and its host (runtime/outputs) tries. A command
// that runs a job itself uses a ledger without a stream.
//
// Source: outputs in DESIGN.md. A status has sums since the begin of the job, so a row is the difference of two
// statuses: a status that is lost makes a row wider, and no figure wrong. So no executor cuts windows: the owner does,
// at its first look behind a boundary.
//
// Invariants:
//
//	OUTPUT-1 For each datacenter, workflow and step: the sum of its window rows is its result row plus its lost
//	       rows, for each count, status, kind of error and bucket. The sum of latencies is exact too while no
//	       attempt is lost, else as exact as its buckets. Rows marked Blunt have no distribution, and a step
//	       that has one promises counts alone.
//	OUTPUT-2 Window rows of one key do not overlap, and no count of a row falls below zero.
//	OUTPUT-3 The time of a row is the acceptance of the job plus a multiple of the window: by the clock of the client
//	       that submitted the job, or of the command that runs it. What a status tells up to the first one behind a
//	       boundary is in that row.
//	OUTPUT-4 A sink gets a batch only after a majority has a record that names its file. A successor delivers the rows
//	       of that file under the same keys, and makes those behind them from the ledger in it: OUTPUT-1 and
//	       OUTPUT-2 hold over all owners.
//	       A record says whether the sink has the newest batch: a successor does not send that one again. An owner
//	       that hands the job over and lacks the sink records that none had the batch: to a successor it is new.
//	OUTPUT-5 A sink that falls behind makes rows wider: a stream holds at most 8 windows, or 1 MiB and one window,
//	       beside the batch on its way.
//	OUTPUT-6 Of a sink that is given up, what was delivered and what is counted as lost add up to what happened.
//	OUTPUT-7 Read rejects what Append does not write, and allocates at most a constant times BatchMax.
//	OUTPUT-8 Sums follow from a batch's file alone: each owner of a job gives a row the same ones, and those of the last row
//	       of a step are its result.
//
// Example:
//
//	s := output.NewStream(job, "shop.star", sink, sent)
//	s.Cut(status)                      // now and then
//	if file, ok := s.Next(); ok { ... } // a majority keeps it, then the record; then the sink gets it
//
// Read row.go; then ledger.go, fall.go, end.go, sum.go; then sink.go, batch.go, stream.go.
package output
