package checker

import "time"

// Promises are what a history keeps beyond the invariants because of what goes
// wrong in it, and what does not.
type Promises struct {
	// Once: no node is lost, so nothing runs again.
	Once bool
	// CancelWithin bounds how long a cancellation takes; zero for no bound.
	CancelWithin time.Duration
	// HeldWithin bounds how long a job that has not ended is without an owner after
	// healing (T11); zero for the bound within which it must end.
	HeldWithin time.Duration
}
