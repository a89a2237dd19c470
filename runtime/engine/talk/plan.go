package talk

import (
	"fmt"

	"hyperscale/core/workflow"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/websocket"
)

// Plan is what the exchanges of a step send, made before the clock.
type Plan struct {
	verb  verb
	Host  pool.TalkHost // where they go
	Shown http1.Call    // the same, as its URL is written; with its text if it is a request that upgrades
	stays bool          // connections outlive an exchange
}

// verb is what the exchanges of one step do in their protocol. One serves any number at once.
type verb interface {
	open() codec.Opening
	say(x *Exchange, d codec.Dialogue) error
	hear(x *Exchange, kind codec.MessageKind, payload []byte) (enough bool)
	deaf() bool
	status() uint16
	protocol() string
	left(code uint16, reason string) error
}

// Compile prepares what a step exchanges. It returns the request that upgrades, without the
// placeholders of messages; nil: no HTTP opens the connection, and Shown says where it goes.
func Compile(r *request.Request, w *workflow.Workflow, memory *websocket.Pool) (*Plan, *request.Request, error) {
	p := &Plan{stays: !w.HTTP.NoKeepAlive}
	if r.Socket == nil {
		return nil, nil, fmt.Errorf("it exchanges nothing: load the workflow again")
	}
	upgrade, err := p.socket(r, w, memory)
	return p, upgrade, err
}
