// Package remotewrite is the kind `prometheus`: the sums of rows as samples of Prometheus' remote write, version 1.
//
// It makes no sums (core/output does), and it is not the output of a command at its end (runtime/export is), whose names of
// metrics and whose encoding it has.
//
// Source: Prometheus' "Remote-Write 1.0"; docs/outputs.md, "prometheus".
//
// Invariants:
//
//	REMOTE-1 A sample has the time of its row: the job's start plus the end of the window. No clock is asked, so each owner
//	         of a job sends the same samples.
//	REMOTE-2 A series gets its samples in the order of their times. A server takes all samples of a request, or none.
//	REMOTE-3 What a server rejects as out of order is there only if an earlier owner of the job may have sent it.
//	REMOTE-4 A series without a datacenter counts the whole job. No sum over the series of a metric counts a request twice.
//
// Read kind.go, sink.go, samples.go.
package remotewrite
