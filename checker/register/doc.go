// Package register judges lease registers: who owns which job, and for how long.
//
// It does not judge what owners do with a job (packages execution and account), nor
// the operations on a register (package operation, T4).
//
// Source: DESIGN.md, "What is proved". A window is the time in which one life of one
// node acts for a job, on that node's own clock.
//
// It judges three invariants of package checker: T1 (tokens rise), T2 (windows do not
// overlap, and a node orders inside its own window only), and of T11 that a job that
// has not ended has an owner, and that no register goes from hand to hand.
//
// Example:
//
//	j := register.New(nodes, log)
//	j.Granted(record, event)
//
// Read judge.go, then window.go and churn.go.
package register
