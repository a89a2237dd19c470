package gate

import (
	"testing"
	"time"

	"hyperscale/core/node"
)

// Three failures within the window open the circuit. It then lets one trial at a time through,
// and old failures do not count.
func TestCircuit(t *testing.T) {
	var c circuit
	at := node.Instant(time.Hour)
	c.failed(at)
	c.failed(at)
	if at = at.Add(circuitWindow); c.left(at) != 0 {
		t.Fatal("two failures open it")
	}
	if c.failed(at); c.left(at) != 0 {
		t.Fatal("failures of a window ago open it")
	}
	c.failed(at)
	if c.failed(at); c.left(at) != circuitReset {
		t.Fatalf("after three failures %v are left, want %v", c.left(at), circuitReset)
	}
	at = at.Add(circuitReset)
	if c.left(at) != 0 {
		t.Fatal("no trial when its time has come")
	}
	if c.left(at) != circuitReset {
		t.Fatal("two trials at once")
	}
	if c.worked(); c.left(at) != 0 {
		t.Fatal("a trial that worked does not close it")
	}
}
