package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hyperscale/core/node"
	"hyperscale/runtime/loop"
	"hyperscale/runtime/outputs/carrier"
)

// Bounds of a node's end, and of a step that makes it look dead.
const (
	flushMax = 2 * time.Second // for the last messages to leave
	stepMax  = 10 * time.Second
)

// live runs the loop and takes the node down after it.
func (n *Node) live() {
	defer close(n.done)
	defer n.hurry() // it holds nothing now
	var exec node.Executor
	if n.options.NewExec != nil {
		exec = n.options.NewExec(n.loop.ExecEvent)
	}
	go n.guard()
	if n.doors.secrets != nil {
		go n.doors.secrets.watch(n.logger, n.done)
	}
	if n.doors.certs != nil {
		go n.doors.certs.watch(n.logger, n.done)
	}
	if n.self.Role != node.RoleClient {
		go n.watchHost()
	}
	n.logger.Info("node starts", "role", n.self.Role.String(), "addr", string(n.self.Addr))
	world := loop.World{Network: n.transport, Store: n.store, Exec: exec}
	if n.sinks != nil { // a nil pointer would be an interface that is not nil
		world.Outputs = n.sinks
	}
	err := n.loop.Run(world)
	if n.sinks != nil {
		n.sinks.Close()
	}
	n.err = errors.Join(n.outcome(err), n.end(exec))
	if lost := n.lost.Load(); lost != nil {
		n.err = errors.Join(*lost, n.err)
	}
	var again *loop.RestartError
	switch {
	case errors.As(n.err, &again):
		n.logger.Info("node starts again", "reason", again.Reason)
	case n.err != nil:
		n.logger.Error("node ended", "error", n.err.Error())
	default:
		n.logger.Info("node ended")
	}
}

// guard ends the node once its disk is gone: what it acknowledged from then on, no restart would
// know.
func (n *Node) guard() {
	select {
	case err := <-n.store.Lost():
		n.lost.Store(&err)
		n.Kill()
	case <-n.done:
	}
}

// outcome is the loop's error, unless a caller asked for that end.
func (n *Node) outcome(err error) error {
	if err == nil || isOurs(err) && n.killed.Load() {
		return nil
	}
	return err
}

// end takes everything down: gently, unless the node was killed.
func (n *Node) end(exec node.Executor) error {
	var faults []error
	if c, ok := exec.(io.Closer); ok {
		if err := c.Close(); err != nil {
			faults = append(faults, fmt.Errorf("close the executor: %w", err))
		}
	}
	ctx, cancel := context.WithTimeout(n.patience, flushMax)
	defer cancel()
	if n.killed.Load() {
		n.transport.Kill()
		faults = append(faults, n.store.Kill())
	} else {
		n.transport.Stop(ctx)
		faults = append(faults, n.store.Close())
	}
	if n.admin != nil {
		n.admin.Close(ctx)
	}
	if err := n.history.failure(); err != nil {
		faults = append(faults, fmt.Errorf("%w: %w", errHistory, err))
	}
	return errors.Join(faults...)
}

// Self is the node as others see it.
func (n *Node) Self() node.Peer { return n.self }

// Addr is where others call it: empty for a client.
func (n *Node) Addr() node.Addr { return n.self.Addr }

// Listens is where its sockets listen: empty for a client.
func (n *Node) Listens() string {
	if n.self.Addr == "" {
		return ""
	}
	return n.doors.sockets.Addr()
}

// Registry is where a part of this process that the node does not know registers its metrics.
func (n *Node) Registry() *prometheus.Registry { return n.metrics.Registry() }

// AdminAddr is where the admin listener is: empty if there is none.
func (n *Node) AdminAddr() string {
	if n.admin == nil {
		return ""
	}
	return n.admin.Addr()
}

// Sinks are how far its sinks are; nil: it has none.
func (n *Node) Sinks() []carrier.Stats { return n.sinks.Stats() }

// Alerts are those about its certificate, its disk and its sinks, with their remedies: its machine tells the others.
func (n *Node) Alerts() []string { return n.work.alerts() }

// Stats are the loop's.
func (n *Node) Stats() loop.Stats { return n.loop.Stats() }

// Command hands m to the machine; its answers come on the session.
func (n *Node) Command(ctx context.Context, m node.Message) (*loop.Session, error) {
	return n.loop.Command(ctx, m)
}

// Stop asks the machine to finish and waits for the end. When ctx ends first the
// node is killed and ctx's error returned; else Err is.
func (n *Node) Stop(ctx context.Context) error {
	n.loop.Stop()
	select {
	case <-n.done:
		return n.err
	case <-ctx.Done():
		n.Kill()
		return fmt.Errorf("stop %s: it did not finish in time and was killed: %w", n.self.ID, context.Cause(ctx))
	}
}

// Kill ends the node at once and waits for the end.
func (n *Node) Kill() {
	n.killed.Store(true)
	n.hurry()
	n.loop.Kill()
	<-n.done
}

// Done is closed when nothing of the node is left.
func (n *Node) Done() <-chan struct{} { return n.done }

// Err is why the node ended: nil before its end, after Stop and after Kill; a
// *loop.HaltError or *loop.PanicError otherwise.
func (n *Node) Err() error {
	select {
	case <-n.done:
		return n.err
	default:
		return nil
	}
}
