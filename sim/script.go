package sim

import (
	"time"

	"hyperscale/core/node"
)

// Letter is a datagram on its way, as a courier sees it. It is delivered whether or
// not its sender still runs.
type Letter struct {
	From, To node.ID
	Message  node.Message
	life     uint32 // of its sender
}

// Engage asks a courier about each datagram that leaves, before the network decides
// anything. True: the courier has taken it, and delivers it when it likes, or never.
// It is for worlds in which one message must come at one moment; faults are data and
// know nothing of what messages say.
func (w *World) Engage(courier func(Letter) bool) { w.courier = courier }

// Deliver hands over a letter, or another message in its place, at a time of the
// world.
func (w *World) Deliver(l Letter, at time.Duration) {
	from, to := w.find(l.From), w.find(l.To)
	_, e := w.queue.add(max(at, w.now), eventDatagram)
	e.node, e.from, e.life, e.word, e.message = to.index, from.index, l.life, l.Message.Digest(), l.Message
}

// When returns the time of the world at which the clock of a node that runs reads an
// instant, if nothing bends it meanwhile.
func (w *World) When(id node.ID, at node.Instant) time.Duration {
	return w.find(id).clock.when(at, w.now)
}

// At runs f at a time of the world; a time that has passed means now.
func (w *World) At(t time.Duration, f func()) {
	_, e := w.queue.add(max(t, w.now), eventScript)
	e.word = w.scripts.keep(f)
}
