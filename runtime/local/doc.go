// Package local runs a whole cluster in this process: one gate, one manager and one worker
// on loopback, with executors as child processes. `run` and `demo` start it.
//
// It is not a shortcut: jobs go through the same machines, messages and fences as on many
// machines. It submits no job: its user talks to the gate as every client does. It decides
// which processors executors get.
//
// Source: DESIGN.md, "Packages".
//
// Invariants:
//
//	LOCAL-1 Start returns a cluster that can take a job, or an error and nothing left
//	        behind.
//	LOCAL-2 When Stop or Kill returns, no goroutine, port, file or executor of the
//	        cluster is left. If this process dies first, its executors die with it.
//	LOCAL-3 It writes nothing to disk: a cluster that ends with its process needs no
//	        memory beyond it.
//	LOCAL-4 By default this process and the target keep one physical core.
//
// Read local.go, worker.go, cores.go.
package local
