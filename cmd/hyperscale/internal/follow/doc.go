// Package follow takes a job to its end in front of a person: progress, interrupts,
// outputs, the summary and the exit code.
//
// It starts no job: run, demo, submit and watch pass it one that a gate has accepted.
//
// Source: docs/outputs.md, docs/result.md.
//
// Invariants:
//
//	FOL-1 An output that cannot be written is an error before the load begins.
//	FOL-2 The first interrupt cancels the job, the second ends the command, also while it is submitted.
//	      A command gives up on silence, never on a queue.
//	FOL-3 A result file holds no secret that a flag gave.
//	FOL-4 A history that cannot be written changes no exit code: a note says so.
//
// An example:
//
//	f, err := follow.New(&flags)
//	defer f.Release()
//	result, err := f.Follow(ctx, s, job, model)
//	return f.Finish(cmd, result)
//
// Read flags.go, submit.go, follow.go, quiet.go, livepage.go, outputs.go, origin.go, history.go.
package follow
