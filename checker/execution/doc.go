// Package execution judges what workers run: attempts of shards, and the cores that
// they hold.
//
// It does not judge what managers count of these attempts: package account does.
//
// Source: DESIGN.md, "What is proved".
//
// It judges invariants of package checker: T6 and T13 (attempts), T9 (cores), P (where
// a world loses no node, no shard runs twice), and of T3 that a worker has a fence on
// its disk before it starts a shard under that fence.
//
// Example:
//
//	j := execution.New(nodes, log)
//	j.Started(record, event, false)
//
// Read judge.go, then attempt.go and cores.go.
package execution
