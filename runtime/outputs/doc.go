// Package outputs delivers the rows of a job to other programs: files, databases, programs of the user.
//
// It does not make rows out of statuses (core/output does) and it knows no wire format: a kind
// (runtime/outputs/kinds) brings a Sink for its place. Nothing above the shell waits for a sink.
//
// Source: outputs in DESIGN.md. Departs from the page in one place: client-run outputs have no spool on disk,
// since they end with the client.
//
// Invariants:
//
//	OUT-1 Offer never waits, and a sink holds at most QueueMax bytes of rows that wait. What does not fit
//	      is counted as lost, by rows and requests.
//	OUT-2 Each row that was offered is delivered, rejected, lost or behind: Report counts each exactly once.
//	OUT-3 A batch keeps its number and its rows while it is tried again; only Smaller cuts it.
//	OUT-4 A batch of a kind that is not exact, whose try was unclear and which is tried again, counts as
//	      perhaps twice.
//	OUT-5 No secret is part of an error, a report or a dead letter.
//
// Read sink.go, kind.go, place.go, secret.go, row.go, json.go; then shell.go, parcel.go, queue.go, retry.go, letters.go, disk.go, report.go, verify.go.
package outputs
