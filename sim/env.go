package sim

import (
	"fmt"
	"time"

	notice "hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/netsim"
)

var _ node.Env = (*process)(nil)

// headerFixed is the size of a datagram's header without the sender's names: see
// runtime/transport. Incarnations below 128 take a byte.
const headerFixed = message.HeaderSize + 14

// Self implements node.Env.
func (p *process) Self() node.Peer { return p.peer }

// Now implements node.Env.
func (p *process) Now() node.Instant { return p.clock.at(p.w.now) }

// Rand implements node.Env. As in production, each incarnation has its own streams.
func (p *process) Rand(purpose node.Purpose) *node.Rand {
	r := &p.rands[purpose]
	if bit := uint16(1) << purpose; p.drawn&bit == 0 {
		p.drawn |= bit
		r.Seed(node.Mix(p.w.config.Seed, p.peer.Incarnation), p.peer.ID, purpose)
	}
	return r
}

// Datagram implements node.Env.
func (p *process) Datagram(to node.Addr, m node.Message) {
	w := p.w
	digest, size := w.trace.know(m)
	w.trace.fold(uint64(size), uint64(p.index)<<8|foldEffect|uint64(EffectDatagram), digest)
	if w.trace.watch&WantEffects != 0 {
		w.trace.observer.Effect(w.now, p.peer.ID, &Effect{Kind: EffectDatagram, To: to, Message: m})
	}
	q, ok := w.at(to)
	if !ok {
		return
	}
	if size += int(p.header); size > message.DatagramMax {
		p.Emit(notice.ShedOf(m, p.peer.Role, notice.ShedSize, fmt.Sprintf("datagram %s to %s", message.NameOf(m), to),
			fmt.Sprintf("%d bytes with its header are above the bound of %d: send it on a stream", size, message.DatagramMax)))
		return
	}
	if w.courier != nil && w.courier(Letter{From: p.peer.ID, To: w.nodes[q].peer.ID, Message: m, life: p.life}) {
		return
	}
	d := w.net.Datagram(p.leaves(), netsim.Host(p.index), netsim.Host(q), size)
	for i := range d.Count {
		j, e := w.queue.add(d.At[i], eventDatagram)
		e.node, e.from, e.life, e.word, e.message = q, p.index, p.life, digest, m
		if d.Late[i] && len(w.faults.aims) > 0 {
			w.nodes[q].look.hold(w.faults.aims[d.Rule], j)
		}
	}
}

// SetTimer implements node.Env: on the node's own clock.
func (p *process) SetTimer(k node.TimerKey, d time.Duration) {
	w := p.w
	digest := keyDigest(&k)
	t := p.timers.find(&k, digest)
	if t == nil {
		t = p.timers.insert(digest)
		t.key = k
	} else if t.event != 0 {
		w.queue.cancel(t.event)
	}
	d = max(0, d)
	at := w.now + d
	if p.clock.ppm == 0 {
		t.due = p.clock.at(at)
	} else {
		t.due = p.clock.at(w.now).Add(d)
		at = p.clock.when(t.due, w.now)
	}
	p.arm(t, at)
	w.trace.fold(uint64(t.due), uint64(p.index)<<8|foldEffect|uint64(EffectSetTimer), digest)
	if w.trace.watch&WantEffects != 0 {
		w.trace.observer.Effect(w.now, p.peer.ID, &Effect{Kind: EffectSetTimer, Timer: k, Delay: d})
	}
}

// CancelTimer implements node.Env.
func (p *process) CancelTimer(k node.TimerKey) {
	w := p.w
	digest := keyDigest(&k)
	t := p.timers.find(&k, digest)
	if t == nil {
		return
	}
	if t.event != 0 {
		w.queue.cancel(t.event)
	}
	p.timers.remove(digest, t.generation)
	w.trace.fold(0, uint64(p.index)<<8|foldEffect|uint64(EffectCancelTimer), digest)
	if w.trace.watch&WantEffects != 0 {
		w.trace.observer.Effect(w.now, p.peer.ID, &Effect{Kind: EffectCancelTimer, Timer: k})
	}
}

// Store implements node.Env.
func (p *process) Store() node.Store { return &p.disk }

// hosted is what its host does for a process.
type hosted struct {
	exec    executor
	outputs outputs
}

// Exec implements node.Env.
func (h *hosted) Exec() node.Executor { return &h.exec }

// Outputs implements node.Env.
func (h *hosted) Outputs() node.Outputs { return &h.outputs }

// Emit implements node.Env.
func (p *process) Emit(e node.Event) {
	if p.w.trace.watch&WantEvents != 0 {
		p.w.trace.observer.Event(p.w.now, p.peer.ID, p.peer.Incarnation, e)
	}
}

// Answer implements node.Env.
func (p *process) Answer(id node.CommandID, m node.Message) {
	w := p.w
	digest, _ := w.trace.know(m)
	w.trace.fold(uint64(id), uint64(p.index)<<8|foldEffect|uint64(EffectAnswer), digest)
	if w.trace.watch&WantEffects != 0 {
		w.trace.observer.Effect(w.now, p.peer.ID, &Effect{Kind: EffectAnswer, Command: id, Message: m})
	}
	_, e := w.queue.add(p.leaves(), eventAnswer)
	e.node, e.life, e.word, e.message = p.index, p.life, uint64(id), m
}

// Restart implements node.Env.
func (p *process) Restart(reason string) { ends(p, phaseAgain, reason) }

// Halt implements node.Env.
func (p *process) Halt(reason string) { ends(p, phaseHalt, reason) }

func ends(p *process, as phase, reason string) {
	p.phase |= as
	p.w.trace.fold(0, uint64(p.index)<<8|foldEffect|uint64(EffectHalt), node.MixString(0, reason))
	if p.w.trace.watch&WantEffects != 0 {
		p.w.trace.observer.Effect(p.w.now, p.peer.ID, &Effect{Kind: EffectHalt, Reason: reason})
	}
}

// outputs is the node.Outputs of a process.
type outputs struct {
	p     *process
	waits map[node.DeliveryID]bool // whose last verdict the node has neither heard nor forgotten
}

// Deliver implements node.Outputs.
func (o *outputs) Deliver(d node.Delivery) {
	p := o.p
	w := p.w
	w.trace.fold(uint64(d.ID), uint64(p.index)<<8|foldEffect|uint64(EffectDeliver), node.MixString(node.MixString(0, d.Sink), string(d.Batch)))
	if w.trace.watch&WantEffects != 0 {
		w.trace.observer.Effect(w.now, p.peer.ID, &Effect{Kind: EffectDeliver, Delivery: &d})
	}
	if o.waits[d.ID] {
		node.Bug("sim: %v delivers %d twice", p.peer, d.ID)
	}
	after, out := time.Duration(0), node.Delivered{ID: d.ID, Verdict: node.DeliveryUnconfigured, Why: fmt.Sprintf("sink %s is not configured on %s", d.Sink, p.peer.ID)}
	if p.spec.Sinks != nil {
		after, out = p.spec.Sinks.Take(p.peer.ID, &d)
	}
	if out.ID = d.ID; after < 0 {
		return
	}
	if o.waits == nil {
		o.waits = map[node.DeliveryID]bool{}
	}
	o.waits[d.ID] = true
	life := p.life
	w.At(p.leaves()+after, func() {
		if p.life == life && p.alive() && o.waits[d.ID] {
			delete(o.waits, d.ID)
			p.hand(node.Input{Kind: node.InputDelivered, Delivered: &out})
		}
	})
}

// Forget implements node.Outputs.
func (o *outputs) Forget(id node.DeliveryID) {
	p := o.p
	p.w.trace.fold(uint64(id), uint64(p.index)<<8|foldEffect|uint64(EffectForget), 0)
	if p.w.trace.watch&WantEffects != 0 {
		p.w.trace.observer.Effect(p.w.now, p.peer.ID, &Effect{Kind: EffectForget, Delivery: &node.Delivery{ID: id}})
	}
	delete(o.waits, id)
}
