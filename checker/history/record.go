package history

import (
	"time"

	"hyperscale/core/node"
)

// Record is one event of a history.
type Record struct {
	At          time.Duration // since the history began, on the observer's clock
	Node        node.ID
	Incarnation uint64
	Local       node.Instant // what the node's own clock read; 0 if that is not known
	Event       node.Event
}
