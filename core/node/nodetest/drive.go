package nodetest

import (
	"maps"
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// step delivers one input, then the completions that are due.
func (e *Env) step(in node.Input) {
	if e.machine == nil || e.halted {
		return
	}
	in.Mail = e.Mail
	e.machine.Step(e, &in)
	for !e.Held && len(e.puts) > 0 && !e.halted {
		e.completeOne(e.Failure)
	}
}

// Start begins an incarnation.
func (e *Env) Start() {
	if e.machine != nil && !e.halted {
		node.Bug("nodetest: %v is running", e.self)
	}
	e.forget()
	e.self.Incarnation++
	e.machine = e.config.New()
	e.starting = true
	in := node.Input{Kind: node.InputStart}
	e.machine.Step(e, &in)
	e.starting = false
	for !e.Held && len(e.puts) > 0 {
		e.completeOne(e.Failure)
	}
}

// Crash ends the node without any input. It loses incomplete writes.
func (e *Env) Crash() { e.forget() }

// LoseDisk empties the store of a node that does not run.
func (e *Env) LoseDisk() {
	if e.machine != nil {
		node.Bug("nodetest: the disk of a running node is lost: crash it first")
	}
	e.disk = map[string][]byte{}
}

// Stop requests a graceful end.
func (e *Env) Stop() { e.step(node.Input{Kind: node.InputStop}) }

// Running reports that the node was started and has neither crashed nor halted.
func (e *Env) Running() bool { return e.machine != nil && !e.halted }

// Machine returns the machine of this incarnation.
func (e *Env) Machine() node.Machine { return e.machine }

// Accept makes a peer open a stream to the node.
func (e *Env) Accept(p node.Peer) node.StreamID {
	id := e.add(&stream{peer: p})
	e.step(node.Input{Kind: node.InputStreamOpened, Stream: id, From: p})
	return id
}

// Opened reports to the node that the stream it opened is open.
func (e *Env) Opened(id node.StreamID, p node.Peer) {
	s := e.Streams.all[id]
	if s == nil || s.peer.ID != "" {
		node.Bug("nodetest: stream %d is not being opened", id)
	}
	s.peer = p
	e.step(node.Input{Kind: node.InputStreamOpened, Stream: id, From: p})
}

// Break ends a stream against the node's will.
func (e *Env) Break(id node.StreamID, reason string) { e.breaks(id, reason, false) }

// Unfit ends a stream that is being opened: its ends do not belong together.
func (e *Env) Unfit(id node.StreamID, reason string) { e.breaks(id, reason, true) }

func (e *Env) breaks(id node.StreamID, reason string, unfit bool) {
	s := e.Streams.all[id]
	if s == nil {
		return
	}
	delete(e.Streams.all, id)
	e.step(node.Input{Kind: node.InputStreamBroken, Stream: id, From: s.peer, Reason: reason, Unfit: unfit})
}

// Receive delivers a message on a stream.
func (e *Env) Receive(id node.StreamID, m node.Message) {
	s := e.Streams.all[id]
	if s == nil || s.peer.ID == "" {
		node.Bug("nodetest: %s arrives on stream %d, which does not stand", message.NameOf(m), id)
	}
	e.keep(m)
	e.step(node.Input{Kind: node.InputMessage, Stream: id, From: s.peer, Message: m})
}

// Names delivers the outcome of a look-up.
func (e *Env) Names(n node.Names) { e.step(node.Input{Kind: node.InputNames, Names: &n}) }

// Shed delivers what is left of a request that found no room in the mailbox, or that its entrance
// refuses.
func (e *Env) Shed(id node.StreamID, m node.Stubbed, no node.Refusal) {
	s := e.Streams.all[id]
	if s == nil || s.peer.ID == "" {
		node.Bug("nodetest: %s is shed on stream %d, which does not stand", message.NameOf(m), id)
	}
	e.step(node.Input{Kind: node.InputShed, Stream: id, From: s.peer, Message: m.Stub(), Reason: no.Reason, RetryAfter: no.RetryAfter})
}

// ReceiveDatagram delivers a message without a stream.
func (e *Env) ReceiveDatagram(from node.Peer, m node.Message) {
	e.keep(m)
	e.step(node.Input{Kind: node.InputMessage, From: from, Message: m})
}

// Command delivers a local command.
func (e *Env) Command(m node.Message) node.CommandID {
	e.command++
	e.keep(m)
	e.step(node.Input{Kind: node.InputCommand, Command: e.command, Message: m})
	return e.command
}

// CommandEnd says that nothing reads the answers of a command any more.
func (e *Env) CommandEnd(id node.CommandID) {
	e.step(node.Input{Kind: node.InputCommandEnd, Command: id})
}

// Advance advances time; timers fire in the order of (time, setting).
func (e *Env) Advance(d time.Duration) {
	end := e.now.Add(d)
	for e.machine != nil && !e.halted {
		next, due := e.fire(end)
		if !due {
			break
		}
		e.step(node.Input{Kind: node.InputTimer, Timer: next})
	}
	e.now = end
}

// Complete completes the next n Puts, with err or successfully.
func (e *Env) Complete(n int, err error) {
	for ; n > 0 && len(e.puts) > 0; n-- {
		e.completeOne(err)
	}
}

func (e *Env) completeOne(err error) {
	in := e.complete(err)
	if e.machine != nil && !e.halted {
		e.machine.Step(e, &in)
	}
}

// Execs returns the executor runs that have not ended, in their order.
func (e *Env) Execs() []node.ExecID { return slices.Sorted(maps.Keys(e.execs.cores)) }

// ExecCalls returns the node's calls of its executor in this incarnation, all or of some kinds.
func (e *Env) ExecCalls(only ...ExecAct) (calls []ExecCall) {
	for _, c := range e.execs.calls {
		if len(only) == 0 || slices.Contains(only, c.Act) {
			calls = append(calls, c)
		}
	}
	return calls
}

// ExecSays delivers a message of an executor run.
func (e *Env) ExecSays(id node.ExecID, m node.Message) {
	e.keep(m)
	e.step(node.Input{Kind: node.InputExec, Exec: node.ExecEvent{ID: id, Kind: node.ExecMessage, Body: m}})
}

// ExecGone ends an executor run: its core is free.
func (e *Env) ExecGone(id node.ExecID, reason, tail string) { e.execGone(id, reason, tail, false) }

// ExecLapsed ends an executor run that the node has not extended in time.
func (e *Env) ExecLapsed(id node.ExecID) { e.execGone(id, "its time was over", "", true) }

func (e *Env) execGone(id node.ExecID, reason, tail string, lapsed bool) {
	if _, ok := e.execs.cores[id]; !ok {
		node.Bug("nodetest: executor run %d is gone twice, or was never started", id)
	}
	delete(e.execs.cores, id)
	e.step(node.Input{Kind: node.InputExec, Exec: node.ExecEvent{ID: id, Kind: node.ExecGone, Reason: reason, Tail: tail, Lapsed: lapsed}})
}
