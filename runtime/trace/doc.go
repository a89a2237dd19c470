// Package trace keeps samples of requests: which iterations a run samples, how a request becomes
// a line, and the file that gets the lines of all executors.
//
// It is not a log: it never delays the load, and leaves out what exceeds its bounds. It knows no
// connection: runtime/engine says what happened to a request.
//
// Source: docs/outputs.md, "Samples of requests".
//
// Invariants:
//
//	TRACE-1 Which iterations are sampled is a function of the plan's seed, the workflow's name,
//	        the user's number and the iteration's. It does not depend on the executor.
//	TRACE-2 Sampled == written + left out, in the last line of a File, for all executors that
//	        have said their last word; Unfinished counts the others.
//	TRACE-3 A Recorder holds at most Queue samples, and as many lines. Its user's loop never waits for it.
//	TRACE-4 No line has a value that the Recorder's mask knows, a credential, or a line break.
//
// An example:
//
//	r := trace.NewRecorder(trace.Plan{Every: 1000, Seed: seed, Workflow: "w"}, mask, send)
//	r.Begin(vu, number)
//	if it := r.Of(vu); it != nil {
//		r.Add(trace.Sample{Place: it.Next()})
//	}
//
// Read sample.go, recorder.go, file.go.
package trace
