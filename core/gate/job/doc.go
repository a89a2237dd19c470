// Package job holds a job of a gate and its subjobs as values: their states, what a majority
// knows of them, and the consequences.
//
// It sends and persists nothing, reads no clock and sets no timer: core/gate does, and
// passes the time. core/lifecycle says which transition is legal.
//
// Source: DESIGN.md, "Gate".
//
// Invariants:
//
//	JOB-1 Course.Shown follows State by the transitions that a majority has not, in order.
//	      Confirm returns each once and skips none.
//	JOB-2 A record holds all that its reader needs: FromRecord of Record is the same job,
//	      except what a manager or a client repeats.
//	JOB-3 A subjob whose End is Counted or Unheard keeps that result until the job's has it.
//	JOB-4 A history keeps the newest results and the newest dead letters, within a number and
//	      a size each.
//	JOB-5 Ends lists each workflow once, or once more after each datacenter that the job
//	      left. No end of the list changes its place.
//
// Example: Become(QUEUED), Become(DISPATCHING), and a record of both. Confirm(1) returns the
// first transition: Shown is QUEUED, State DISPATCHING.
//
// Read job.go, subjob.go, due.go, ending.go, abort.go, ended.go, letter.go, history.go, record.go,
// line.go.
package job
