// Package outputstest judges a kind of output against a place that misbehaves.
//
// It is no server: each kind brings its own place, the real one behind a fault where that is possible.
//
// Read cruelty.go.
package outputstest

import "hyperscale/runtime/outputs"

// Fault is what a place does wrong.
type Fault uint8

// The faults.
const (
	FaultNone     Fault = iota
	FaultRefuse         // it refuses one try in five
	FaultHang           // it takes a batch and does not answer within the try
	FaultLate           // it answers after the try's deadline
	FaultCut            // it closes half-way through a batch
	FaultHalf           // it accepts half of a batch
	FaultLoseWord       // it takes a batch, and its answer is lost
	FaultDead           // nothing listens, and it comes back
	FaultMax
)

// Place is where a kind delivers to in a test.
type Place interface {
	// Name is the PLACE with options for outputs.Parse.
	Name() string
	// Misbehave sets what goes wrong from now on.
	Misbehave(f Fault)
	// Can says that the place can do a fault: a file refuses nothing.
	Can(f Fault) bool
	// Rows reads back what is there, with one entry for each time that a row is stored or counted.
	Rows() ([]outputs.Row, error)
}
