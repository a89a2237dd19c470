// Package operation collects the operations of a history by object and has package
// linear judge them (T4). An object is a lease register, a job as clients see it, or
// a receiver of fenced orders behind a register.
//
// It decides nothing about linearizability itself: package linear does.
//
// Source: DESIGN.md, "What is proved".
//
// Invariants:
//
//	OPERATION-1 An operation of an incarnation that is over stays open for ever: it may
//	            have taken effect at any time since its call, or never.
//	OPERATION-2 What exceeds a bound of package linear is a violation "undecided".
//
// Example:
//
//	j := operation.New(nodes, log)
//	j.LeaseCalled(record, event)
//	j.Settle()
//
// Read judge.go, then lease.go, client.go and receiver.go.
package operation
