// Package host assembles a node: a machine, its loop, its sockets, its store, its
// executors, its admin listener.
//
// It knows no role and reads no configuration: the command chooses the machine
// and fills in Options.
//
// Source: DESIGN.md, "Packages".
//
// Invariants:
//
//	HOST-1 Start returns a running node, or an error that says what to change and leaves
//	       nothing behind.
//	HOST-2 The incarnation is on disk before the machine sees InputStart. A node without a
//	       data directory draws it at random.
//	HOST-3 When Done is closed, no goroutine, socket, file or executor of the node is left.
//	HOST-4 Stop lets the machine finish and its last messages leave. Kill looks to the rest
//	       of the cluster like kill -9.
//
// Example:
//
//	n, err := host.Start(host.Options{Role: node.RoleGate, ID: "gate-1", Cluster: "c", Environment: "e",
//		Listen: "127.0.0.1:0", Machine: gate.New(config)})
//	...
//	n.Stop(ctx)
//
// Read host.go, options.go, life.go, ready.go, supervisor.go, observe.go, alerts.go.
package host
