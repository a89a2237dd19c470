// Package local runs a whole cluster in this process: one gate, one manager and
// one worker on loopback, with executors as child processes. It is what `run` and
// `demo` start, and it knows which processors to give to executors.
//
// It is not a shortcut: jobs go through the same machines, messages and fences as
// on many machines. It does not submit jobs; its user talks to the gate as every
// client does.
//
// Source: DESIGN.md, "What `run` is".
//
// Invariants:
//
//	LOCAL-1 Start returns a cluster that can take a job, or an error and nothing left
//	        behind.
//	LOCAL-2 When Stop or Kill returns, no goroutine, port, file or executor of the
//	        cluster is left. If this process dies first, its executors die with it.
//	LOCAL-3 Nothing is written to disk: a cluster that ends with its process needs no
//	        memory beyond it.
//	LOCAL-4 By default one physical core is left to this process and to the target.
//
// Read local.go, worker.go, cores.go.
package local
