package checker

import "time"

// Promises are what a history must keep beyond the invariants, given the faults that it has and
// lacks.
type Promises struct {
	// Once: no node is lost, so nothing runs again.
	Once bool
	// CancelWithin bounds how long a cancellation takes; zero for no bound.
	CancelWithin time.Duration
	// HeldWithin bounds how long a job may lack an owner after healing, until it ends (T11).
	// Zero means the bound within which it must end.
	HeldWithin time.Duration
}
