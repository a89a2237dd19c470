package local

import (
	"fmt"

	"hyperscale/core/node"
	"hyperscale/runtime/exec"
	"hyperscale/runtime/host"
)

// StartWorker starts a node with a pool of executors; it returns when they are
// being warmed, or says why they cannot be.
func StartWorker(o host.Options, c exec.Config) (*host.Node, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if len(c.CPUs) == 0 {
		c.CPUs = CPUs()
	}
	warmed := make(chan error, 1)
	o.NewExec = func(sink func(node.ExecEvent)) node.Executor {
		pool, err := exec.New(c, sink)
		warmed <- err
		if err != nil {
			return none{sink: sink, reason: err.Error()}
		}
		return closer{pool}
	}
	n, err := host.Start(o)
	if err != nil {
		return nil, err
	}
	if err := <-warmed; err != nil {
		n.Kill()
		return nil, fmt.Errorf("start executors: %w", err)
	}
	return n, nil
}

// closer is a pool that its host closes.
type closer struct{ *exec.Pool }

// Close implements io.Closer.
func (c closer) Close() error {
	c.Pool.Close()
	return nil
}

// none is the executor of a worker that is about to be killed for lack of one.
type none struct {
	sink   func(node.ExecEvent)
	reason string
}

func (n none) Start(id node.ExecID, _ int, _ node.Message) {
	n.sink(node.ExecEvent{ID: id, Kind: node.ExecGone, Reason: n.reason})
}
func (none) Cancel(node.ExecID)               {}
func (none) Extend(node.ExecID, node.Instant) {}
func (none) Tell(node.ExecID, node.Message)   {}
func (none) Kill(node.ExecID)                 {}
