package subjob

import (
	"time"

	"hyperscale/core/node"
)

// Times are when a workflow moved on.
type Times struct {
	Ready   node.Instant // when all its dependencies had ended; zero before
	Started node.Instant
	Ended   node.Instant
	Overdue Overdue
}

// Overdue measures for how long a workflow waits that lacks nothing.
type Overdue struct {
	wait time.Duration
	left int // shards that waited so when it last looked
}

// Pass notes how many shards wait so, and for how long the node was awake since the last look. A
// change of their number is a move: the wait begins anew.
func (o *Overdue) Pass(left int, awake time.Duration) time.Duration {
	if left == 0 || left != o.left {
		o.wait = 0
	} else {
		o.wait += awake
	}
	o.left = left
	return o.wait
}
