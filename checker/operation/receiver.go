package operation

import (
	"fmt"

	"hyperscale/checker/history"
	"hyperscale/checker/linear"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Receiver is a node that obeys fenced orders, and what they are about.
type Receiver struct {
	Node       node.ID
	Shard      message.ShardID
	Subjob     bool
	Datacenter string // of a subjob, for a gate
}

// Answered takes an order that a receiver obeyed or rejected, as one instant.
func (j *Judge) Answered(r history.Record, who Receiver, op linear.FencedOp) {
	object := j.receivers.byKey[who]
	if object == nil {
		object = j.receivers.add(who, fmt.Sprintf("%s/%v", who.Node, who.Shard))
	}
	j.fails(object.Point(j.next(), where(r), op))
}
