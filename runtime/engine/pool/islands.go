package pool

import (
	"time"

	"hyperscale/runtime/epoll"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/island"
)

// islands are the connections whose work goroutines do, beside the loop: see runtime/protocol/island. The
// loop reads and writes their sockets as any other's.
type islands struct {
	crew *island.Crew // nil: there are none
	tags []uint64
	// One of them sets timers: they fire while the loop gives the processor away.
	timed bool
}

// goroutines returns the goroutines beside the loop.
func (i *islands) goroutines(poller *epoll.Poller) *island.Crew {
	if i.crew == nil {
		i.crew = island.New(func() { _ = poller.Wake() }) // it cannot fail while the poller is open
	}
	return i.crew
}

// islandsWithin is how long the end of a run waits for their goroutines.
const islandsWithin = time.Second

// Stir gives the islands' goroutines their turn, and takes what they have done.
func (w *wire) Stir() {
	y := &w.talks
	if y.islands.crew == nil {
		return
	}
	y.islands.tags = y.islands.crew.Take(y.islands.tags[:0])
	if len(y.islands.tags) == 0 {
		return
	}
	y.Clock.Tick()
	for _, tag := range y.islands.tags {
		w.stir(tag)
	}
	w.Pools.SettlePools()
	w.FlushQueued()
}

// stir takes what one island has done.
func (w *wire) stir(tag uint64) {
	y := &w.talks
	at := int32(uint32(tag))
	c := y.Sockets.Conns.At(at)
	gone := func() bool { return c.token(at) != tag || c.fd < 0 || c.slot >= 0 && y.Slots.At(c.slot).broke }
	if gone() {
		return
	}
	if c.quic != nil {
		y.Quics.stir(at)
		return
	}
	d := c.talk
	of := d.lands()
	if of == nil {
		return
	}
	of.Look()
	var err error
	if d.Dialogue == nil {
		err = y.greeted(at, nil)
	} else {
		y.at = at
		err = d.Dialogue.(codec.IslandDialogue).Stir(y)
	}
	if gone() {
		return
	}
	if y.flush(at); gone() {
		return
	}
	if err != nil {
		y.wrong(at, err)
		return
	}
	if y.settle(at); !gone() && c.reading == readingHeld && !d.finished && !c.crowded() {
		c.reading = readingFirst
		y.Sockets.rewatch(at)
		y.Sockets.Unread = append(y.Sockets.Unread, ticket{at, c.Generation})
	}
}

// Calm reports that no island has anything to tell, and lets those that have wake the loop from now on.
func (w *wire) Calm() bool {
	crew := w.talks.islands.crew
	return crew == nil || crew.Asleep()
}

// Accompanied reports that goroutines beside the loop set timers: it must let the scheduler fire them.
func (w *wire) Accompanied() bool { return w.talks.islands.timed }

// EndIslands waits for the goroutines of islands, whose connections are closed, and returns how many are left.
func (w *wire) EndIslands() (left int) {
	if w.talks.islands.crew == nil {
		return 0
	}
	for at := range w.Sockets.Conns.N {
		if c := w.Sockets.Conns.At(at); c.quic != nil || c.talk.lands() != nil {
			w.Sockets.HangUp(at)
		}
	}
	return w.talks.islands.crew.Close(islandsWithin)
}
