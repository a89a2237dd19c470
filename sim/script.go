package sim

import (
	"time"

	"hyperscale/core/node"
)

// Letter is a datagram on its way, as a courier sees it. Deliver works whether or not its
// sender still runs.
type Letter struct {
	From, To node.ID
	Message  node.Message
	life     uint32 // of its sender
}

// Engage gives a courier each datagram that leaves, before the network decides anything. If the
// courier returns true, it has taken the datagram, and delivers it later or never. Worlds use
// it if one message must arrive at one moment; faults do not know what messages contain.
func (w *World) Engage(courier func(Letter) bool) {
	w.faults.harmed = true
	w.courier = courier
}

// Deliver delivers a letter, or another message in its place, at a time of the world.
func (w *World) Deliver(l Letter, at time.Duration) {
	from, to := w.find(l.From), w.find(l.To)
	_, e := w.queue.add(max(at, w.now), eventDatagram)
	e.node, e.from, e.life, e.word, e.message = to.index, from.index, l.life, l.Message.Digest(), l.Message
}

// When returns the time of the world at which the clock of a running node reads an instant, if
// its rate stays the same.
func (w *World) When(id node.ID, at node.Instant) time.Duration {
	return w.find(id).clock.when(at, w.now)
}

// At runs f at a time of the world; a time in the past means now.
func (w *World) At(t time.Duration, f func()) {
	_, e := w.queue.add(max(t, w.now), eventScript)
	e.word = w.scripts.keep(f)
}
