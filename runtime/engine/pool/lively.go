package pool

import (
	"fmt"
	"time"

	"hyperscale/runtime/epoll"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/scram"
)

// What a connection does beside its messages: it lives, and its greeting or island goes on.

// lives lets a connection say now and then that it lives, if its protocol has that.
func (y *talks) lives(at int32) {
	of, lively := y.Sockets.Conns.At(at).talk.Dialogue.(codec.Lively)
	if !lively {
		return
	}
	if next, err := of.Tick(y.Clock.Now); err == nil && next > 0 {
		y.wheel.Set(at, next)
	}
}

// Beat lets the connections speak whose time has come. One whose server is dead ends.
func (w *wire) Beat() {
	y := &w.talks
	for at, ok := y.wheel.Expire(y.Clock.Now); ok; at, ok = y.wheel.Expire(y.Clock.Now) {
		c := y.Sockets.Conns.At(at)
		if !c.upgraded() || c.slot >= 0 && y.Slots.At(c.slot).broke {
			continue
		}
		of, lively := c.talk.Dialogue.(codec.Lively)
		if !lively {
			continue
		}
		next, err := of.Tick(y.Clock.Now)
		switch {
		case err != nil:
			y.wrong(at, err)
			continue
		case next > 0:
			y.wheel.Set(at, next)
		}
		y.flush(at)
	}
}

// NextBeat is how long no connection must speak.
func (w *wire) NextBeat() time.Duration { return w.talks.wheel.Timeout(w.Clock.Now) }

// beatAnew begins the beats of all connections by a clock that starts over.
func (y *talks) beatAnew() {
	y.wheel = epoll.NewWheel(0)
	for at := range y.Sockets.Conns.N {
		if y.Sockets.Conns.At(at).upgraded() {
			y.lives(at)
		}
	}
}

// secured goes on with a greeting in TLS.
func (y *talks) secured(at int32) {
	c := y.Sockets.Conns.At(at)
	c.talk.head = c.talk.rounds.Secured(nil, scram.EndPoint(c.secure.tls.ConnectionState().PeerCertificates))
	y.flush(at)
}

// greeted takes bytes of the server's greeting, and those of the dialogue behind it.
func (y *talks) greeted(at int32, b []byte) error {
	c := y.Sockets.Conns.At(at)
	d := c.talk
	out, rest, begun, err := d.rounds.Feed(d.head, b)
	if d.head = out; err != nil || begun == nil {
		return err
	}
	y.opened(at, begun)
	switch {
	case c.multi != nil:
		y.streams.feed(at, rest)
		return nil
	case y.Slots.At(c.slot).broke:
		return nil
	}
	return y.feed(at, rest)
}

// works lets a greeting compute a slice, and reports whether the connection may be read now. One
// that is not over goes on in the next turn.
func (y *talks) works(at int32) bool {
	c := y.Sockets.Conns.At(at)
	generation := c.Generation
	err := y.greeted(at, nil)
	if c.Generation != generation || c.multi != nil || y.Slots.At(c.slot).broke {
		return false
	}
	if y.flush(at); err != nil {
		y.wrong(at, err)
		return false
	}
	if c.works() {
		y.Sockets.Unread = append(y.Sockets.Unread, ticket{at, generation})
		return false
	}
	return true
}

// land begins an island on a new connection, if its greeting is one. False: it cannot, and its exchange ends.
func (y *talks) land(at int32) bool {
	c := y.Sockets.Conns.At(at)
	g := c.talk.rounds.Island()
	if g == nil {
		return true
	}
	if _, untimed := g.(codec.Untimed); !untimed {
		y.islands.timed = true
	}
	if err := g.Land(y.islands.goroutines(y.Sockets.Poller), c.token(at)); err != nil {
		y.Slots.Breaks(c.slot, fmt.Errorf("begin the connection: %w", err))
		return false
	}
	return true
}

// explains lets an island take what it has read before its connection ends, and say what the end means.
// False: the connection has no island.
func (y *talks) explains(at int32, err error) bool {
	c := y.Sockets.Conns.At(at)
	of := c.talk.lands()
	if of == nil {
		return false
	}
	of.End(err)
	y.islands.crew.Fed()
	if c.reading != readingHeld {
		c.reading = readingHeld
		y.Sockets.rewatch(at)
	}
	c.talk.finished = true
	return true
}
