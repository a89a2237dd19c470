package loop

import (
	"fmt"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// env is the machine's Env. Its methods run on the loop's goroutine, inside Step. A separate
// type keeps them out of Loop's public interface.
type env struct{ l *Loop }

var _ node.Env = env{}

func (e env) Self() node.Peer   { return e.l.config.Self }
func (e env) Now() node.Instant { return e.l.now }

func (e env) Rand(p node.Purpose) *node.Rand {
	if e.l.rands[p] == nil {
		c := &e.l.config
		e.l.rands[p] = node.NewRand(node.Mix(c.Seed, c.Self.Incarnation), c.Self.ID, p)
	}
	return e.l.rands[p]
}

func (e env) Datagram(to node.Addr, m node.Message) { e.l.world.Network.Datagram(to, m) }

func (e env) Open(to node.Addr) node.StreamID {
	return e.l.inbox.open(func() node.StreamID { return e.l.world.Network.Open(to) })
}

func (e env) Send(s node.StreamID, m node.Message) { e.l.world.Network.Send(s, m) }

func (e env) Resolve(name node.Addr) { e.l.world.Network.Resolve(name) }

func (e env) Backlog(s node.StreamID) (bytes, bound int) { return e.l.world.Network.Backlog(s) }

func (e env) Close(s node.StreamID) {
	e.l.inbox.forget(s)
	e.l.world.Network.Close(s)
}

// SetTimer counts from the instant at which the step began.
func (e env) SetTimer(k node.TimerKey, d time.Duration) {
	e.l.timers.set(k, e.l.now.Add(max(0, d)))
}

func (e env) CancelTimer(k node.TimerKey) { e.l.timers.cancel(k) }
func (e env) Store() node.Store           { return e.l.world.Store }
func (e env) Exec() node.Executor         { return e.l.world.Exec }
func (e env) Outputs() node.Outputs       { return e.l.world.Outputs }

func (e env) Emit(ev node.Event) {
	if e.l.config.Observe != nil {
		e.l.config.Observe(e.l.now, ev)
	}
}

func (e env) Answer(id node.CommandID, m node.Message) {
	s := e.l.sessions.find(id)
	if s == nil || s.put(m) {
		return
	}
	if b, ok := m.(message.Body); ok && b.Class() == node.ClassTelemetry {
		e.l.counters.skipped.Add(1)
		return
	}
	e.l.sessions.end(s, ErrSlowSession)
}

func (e env) Halt(reason string) {
	e.l.halted = true
	e.l.reason = reason
}

func (e env) Restart(reason string) {
	e.l.halted = true
	e.l.again = reason
}

// noOutputs stands in where a node has no sinks.
type noOutputs struct{ l *Loop }

func (o noOutputs) Deliver(d node.Delivery) {
	o.l.Delivered(node.Delivered{ID: d.ID, Verdict: node.DeliveryUnconfigured, Why: fmt.Sprintf("sink %s is not configured on %s", d.Sink, o.l.config.Self.ID)})
}

func (noOutputs) Forget(node.DeliveryID) {}

// noExecutor stands in where a node has no cores to run anything on.
type noExecutor struct{ l *Loop }

func (x noExecutor) Start(id node.ExecID, _ int, _ node.Message) {
	x.l.ExecEvent(node.ExecEvent{ID: id, Kind: node.ExecGone, Reason: "this node has no executors"})
}

func (noExecutor) Cancel(node.ExecID)               {}
func (noExecutor) Extend(node.ExecID, node.Instant) {}
func (noExecutor) Tell(node.ExecID, node.Message)   {}
func (noExecutor) Kill(node.ExecID)                 {}
