package subjob

import (
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Claim is a gate's order, or a vacancy, that waits for its register.
type Claim struct {
	Gate     node.Addr             // empty for a vacancy
	Dispatch *message.JobDispatch  // the newest; nil for a cancellation or a vacancy
	Cancel   *message.SubjobCancel // the newest
	File     message.FileDigest
	Asked    bool // the manager is acquiring the register
	Keeping  bool // no majority has the dispatch's file yet
	Began    node.Instant
}

// Epoch is the highest epoch of the claim's orders.
func (c *Claim) Epoch() uint64 {
	var n uint64
	if c.Dispatch != nil {
		n = c.Dispatch.Fence.JobEpoch
	}
	if c.Cancel != nil {
		n = max(n, c.Cancel.Fence.JobEpoch)
	}
	return n
}

// Renewed returns a later dispatch with the program and plan that this claim keeps as its file: a manager that takes the
// subjob over reads that file, and must run the same.
func (c *Claim) Renewed(d *message.JobDispatch) *message.JobDispatch {
	if c.Dispatch == nil {
		return d
	}
	later := *d
	later.Name, later.Program, later.Plan, later.Rows = c.Dispatch.Name, c.Dispatch.Program, c.Dispatch.Plan, c.Dispatch.Rows
	return &later
}

// Cancelled keeps a cancellation until the manager has the subjob, unless an order of a later
// epoch came before.
func (c *Claim) Cancelled(gate node.Addr, k *message.SubjobCancel) {
	if c.Epoch() <= k.Fence.JobEpoch {
		c.Gate, c.Cancel = gate, k
	}
}
