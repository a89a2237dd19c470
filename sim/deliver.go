package sim

import (
	"time"

	notice "hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// onDatagram delivers a datagram to its node, if it runs. Its sender may have restarted or
// crashed since.
func (p *process) onDatagram(e *event) {
	w := p.w
	if !p.started() || p.suspended > 0 {
		return
	}
	if w.mixed && p.spec.Cluster != w.nodes[e.from].spec.Cluster {
		return
	}
	in := &w.inputs.datagram
	in.Kind, in.Place = node.InputMessage, 0 // the last one may have been shed
	in.From = w.peers[e.from]
	in.From.Incarnation, in.From.Minor = uint64(e.life), w.nodes[e.from].peer.Minor
	in.Message = e.message
	digest := e.word
	if w.config.Wire {
		in.Message = w.wire.clone(e.message)
		digest = in.Message.Digest()
	}
	in.Generation = node.Mix(digest, uint64(e.from)<<32|uint64(e.life))
	if fits(p, in) {
		p.offer(in)
	}
}

// fits reports whether a node takes a message from a sender of that role. The door of a node in
// production decides the same way. A sender asks for the version of the receiver: a datagram may
// find an older one only if that node has been of a newer one.
func fits(p *process, in *node.Input) bool {
	if since := message.Since(in.Message.Kind()); since > p.newest || since > p.peer.Minor && in.Stream != 0 {
		node.Bug("sim: %v sends %s: %s", in.From, message.NameOf(in.Message), message.Beyond(p.peer, in.Message))
	}
	if message.Fits(in.Message.Kind(), in.From.Role, p.spec.Role, in.Stream) && message.Placed(in.Message, in.From.Grant) {
		return true
	}
	if p.w.trace.watch&WantEvents != 0 {
		p.Emit(notice.Misplaced(in.Message, in.From, in.Stream))
	}
	return false
}

func (p *process) onTimer(e *event) {
	t := p.timers.fired(e.word, e.sequence)
	in := &p.w.inputs.firing
	in.Timer, in.Generation = t.key, t.generation
	if p.bars.has(barAimed) {
		p.look.fired(&t.key)
	}
	if p.idle() {
		p.timers.remove(e.word, e.sequence)
		p.step(in)
		return
	}
	t.event = 0
	p.offer(in)
}

// idle says that the node can handle an input at once.
func (p *process) idle() bool {
	return p.busy <= p.w.now && p.bars&^barAimed == 0
}

// offer gives an input to an idle node, or to the mailbox of a busy one. It copies an input
// that has to wait.
func (p *process) offer(in *node.Input) {
	if p.idle() {
		if in.Stream == 0 || p.wants(in) {
			p.box.Pass(in, node.Instant(p.w.now))
			p.step(in)
		}
		if p.bars.has(barHeld) {
			p.wake()
		}
		return
	}
	fate := p.box.Push(in, node.Instant(p.w.now))
	p.bars.set(barQueued, p.box.Len() > 0)
	if fate > node.FateRefused {
		lose(p, in, fate)
	}
	if p.bars.has(barQueued) {
		p.wake()
	}
}

// lose handles an input that found no room, and leaves nothing to the machine.
func lose(p *process, in *node.Input, fate node.Fate) {
	if in.Kind != node.InputMessage {
		return // a command: the caller gets no answer
	}
	broken := fate == node.FateRejected && in.Stream != 0
	if p.w.trace.watch&WantEvents != 0 {
		p.Emit(notice.ShedByLane(in.Message, in.From, broken))
	}
	if broken {
		p.w.streams.breakEnd(in.Stream, "the peer's mailbox is full")
	}
}

// hand is offer for inputs that are made on the spot.
func (p *process) hand(in node.Input) {
	p.w.inputs.other = in
	p.offer(&p.w.inputs.other)
}

// wake schedules the next look at the mailbox.
func (p *process) wake() {
	if p.waking || p.bars.has(barPaused) || !p.alive() {
		return
	}
	p.waking = true
	_, e := p.w.queue.add(max(p.busy, p.w.now), eventWake)
	e.node, e.life = p.index, p.life
}

// onWake handles waiting inputs until one takes the CPU again.
func (p *process) onWake(e *event) {
	w := p.w
	if p.life != e.life {
		return
	}
	p.waking = false
	for p.alive() && !p.bars.has(barPaused) && p.busy <= w.now && p.next(&w.inputs.queued) {
		p.step(&w.inputs.queued)
	}
	if p.alive() && p.bars.has(barQueued|barHeld) {
		p.wake()
	}
}

// next returns the next input of the mailbox that the machine still wants.
func (p *process) next(in *node.Input) bool {
	if p.held != nil {
		*in, p.held = *p.held, nil
		p.bars.set(barHeld, false)
		if p.w.streams.Hears(in.Stream) {
			return true
		}
	}
	for p.box.Pop(in, node.Instant(p.w.now)) {
		p.bars.set(barQueued, p.box.Len() > 0)
		if p.wants(in) {
			return true
		}
	}
	*in = node.Input{}
	return false
}

// wants drops an input that was cancelled, closed or broken while it waited. It puts a stream's
// opening before a message of a more urgent lane that overtook it.
func (p *process) wants(in *node.Input) bool {
	s := p.w.streams
	switch in.Kind {
	case node.InputTimer:
		digest := keyDigest(&in.Timer)
		t := p.timers.find(&in.Timer, digest)
		if t == nil || t.generation != in.Generation {
			return false
		}
		p.timers.remove(digest, in.Generation)
	case node.InputStreamOpened:
		return s.See(in.Stream)
	case node.InputStreamBroken:
		return s.Told(in.Stream)
	case node.InputMessage, node.InputShed:
		if in.Stream == 0 {
			return true
		}
		if !s.Hears(in.Stream) {
			return false
		}
		if s.See(in.Stream) {
			m := *in
			p.held = &m
			p.bars.set(barHeld, true)
			*in = node.Input{Kind: node.InputStreamOpened, Stream: m.Stream, From: m.From}
		}
	}
	return true
}

// step lets the machine handle one input. The input takes the CPU from now on; messages leave
// when it is done.
func (p *process) step(in *node.Input) {
	w := p.w
	cost := time.Duration(0)
	if p.prices != nil {
		if cost = p.prices.of(in); cost > 0 {
			p.busy = w.now + cost
		}
	}
	w.events++
	if w.config.Flooded != nil && w.rates.floods(w.now, p.index, in, w.config.RateMax) {
		w.config.Flooded(p.peer.ID, in.Message.Kind())
	}
	w.trace.fold(uint64(w.now)+w.queue.sequence*foldSequence, uint64(p.index)<<8|uint64(in.Kind), inputDigest(in))
	if w.trace.watch&WantInputs != 0 {
		w.trace.observer.Input(w.now, p.peer.ID, in)
	}
	if in.Kind == node.InputStart {
		p.bars.set(barUnstarted, false)
		p.phase = phaseStart
	}
	p.phase |= phaseStep
	p.machine.Step(p, in)
	p.box.Done(in, cost)
	if p.prices != nil && p.prices.labor != nil {
		p.charge()
	}
	p.phase &= phaseHalt | phaseAgain
	if asked := p.phase; asked != 0 {
		p.end(true) // the machine asked for its end
		if asked == phaseAgain {
			w.faults.harmed = true // peers lose its streams
			p.start()
		}
	}
}

// charge charges a node for a Step whose work grew with the cluster, and reports one that took
// too long. What the Step sent has left before.
func (p *process) charge() {
	w := p.w
	extra := p.prices.extra()
	if extra == 0 {
		return
	}
	p.busy = max(p.busy, w.now) + extra*time.Duration(p.prices.slow)
	if w.config.Labored != nil && extra > w.config.LaborMax {
		w.config.Labored(p.peer.ID, extra)
	}
}

// Command gives a local command to a node and calls f with each answer. It returns false if the
// node does not run; then there is no answer.
func (w *World) Command(id node.ID, m node.Message, f func(node.Message)) bool {
	p := w.find(id)
	if !p.alive() {
		return false
	}
	p.calls.last++
	p.calls.answers[p.calls.last] = f
	_, e := w.queue.add(w.now, eventCommand)
	e.node, e.life, e.word, e.message = p.index, p.life, uint64(p.calls.last), m
	return true
}

func (c *calls) onCommand(e *event) {
	p := c.p
	if p.life != e.life || !p.alive() {
		return
	}
	// A command, and its answers, stay within the process: they cross no wire.
	p.hand(node.Input{Kind: node.InputCommand, Command: node.CommandID(e.word), Message: e.message, Generation: e.message.Digest()})
}

func (c *calls) onAnswer(e *event) {
	if c.p.life != e.life {
		return
	}
	if f := c.answers[node.CommandID(e.word)]; f != nil {
		f(e.message)
	}
}
