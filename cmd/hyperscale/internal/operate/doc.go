// Package operate holds the operator's commands: nodes, status, jobs, datacenters,
// cancel, drain, recover and ping.
//
// It decides nothing about jobs or nodes: core and runtime do. A command here reads
// flags, asks a gate or starts a node, and prints.
//
// Source: docs/operations.md.
//
// Invariants:
//
//	OPS-1 A command that waits for the cluster has a bound and says what it waits for.
//	OPS-2 Fields that --json prints may be added and are never renamed.
//
// An example, with asking.go's helper for a command that connects, asks and prints:
//
//	asking(cmd, func(ctx context.Context, s *session.Session, w io.Writer, args []string) error { ... })
//
// Read asking.go, status.go, standing.go, jobs.go, selection.go, cancel.go,
// cancelall.go, drain.go; then node.go, startnode.go, recover.go.
package operate
