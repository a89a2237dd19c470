// Package account judges what managers and gates dispatch and count: of shards, of
// workflows, of subjobs and of jobs.
//
// It does not judge what runs on workers (package execution), nor who may dispatch
// (package register).
//
// Source: DESIGN.md, "What is proved".
//
// It judges invariants of package checker: T7 (a workflow begins after what it depends
// on) and T8 (sums), of T3 that a node counts no result of an attempt that it dispatched
// again or gave up, and of L the states of workflows.
//
// Example:
//
//	j := account.New(log)
//	j.ShardDispatched(record, event)
//
// Read judge.go, then count.go, course.go and shares.go.
package account
