package netsim

import (
	"time"

	"hyperscale/core/node"
)

// Open starts a stream and returns the opener's ID of it.
func (s *Streams) Open(now time.Duration, from Host, peer node.Peer, to Host) node.StreamID {
	c := s.create()
	c.side[0].host, c.side[0].peer = from, peer
	c.side[1].host = to
	s.act(now+s.net.config.ConnectMax, ActionTimeout, c, 0)
	s.syn(now, c)
	return c.id.Of(0)
}

// OpenNowhere starts a stream to an address that no node has.
func (s *Streams) OpenNowhere(now time.Duration, from Host, peer node.Peer, reason string) node.StreamID {
	c := s.create()
	c.side[0].host, c.side[0].peer = from, peer
	c.side[1].state = sideOver
	s.tell(now, c, 0, reason)
	return c.id.Of(0)
}

// syn sends the request to the other side, or tries again later if the network is cut.
func (s *Streams) syn(now time.Duration, c *conn) {
	x, y := &c.side[0], &c.side[1]
	if x.state != sideWaiting || y.state != sideWaiting {
		return
	}
	at, _, ok := s.net.segment(now, x.host, y.host, 0)
	if !ok || !s.net.Passes(now, y.host, x.host) {
		s.retry(now, c, 0)
		return
	}
	s.act(at, ActionSyn, c, 1)
}

// Accept opens the stream for the host at which a request arrived. The world calls it at an
// ActionSyn; if it returns true, the world reports the opening to that host.
func (s *Streams) Accept(now time.Duration, id ConnID, peer node.Peer) bool {
	c := s.find(id)
	if c == nil || c.side[0].state != sideWaiting || c.side[1].state != sideWaiting {
		return false
	}
	x, y := &c.side[0], &c.side[1]
	at, _, ok := s.net.segment(now, y.host, x.host, 0)
	if !ok {
		s.retry(now, c, 0)
		return false
	}
	c.opened = true
	y.peer, y.state = peer, sideOpen
	for p := range y.last {
		y.last[p] = at
	}
	y.latest = at
	s.act(at, ActionOpened, c, 0)
	return true
}

// Refuse answers a request with a break.
func (s *Streams) Refuse(now time.Duration, id ConnID, reason string) {
	c := s.find(id)
	if c == nil || c.side[1].state != sideWaiting {
		return
	}
	c.side[1].state = sideOver
	if at, _, ok := s.net.segment(now, c.side[1].host, c.side[0].host, 0); ok {
		s.tell(at, c, 0, reason)
	}
	s.release(c)
}

// Happens handles an action that is due. If it returns true, the world delivers the action to
// the node of its side.
func (s *Streams) Happens(now time.Duration, a *Action) bool {
	c := s.find(a.Stream)
	if c == nil {
		return false
	}
	x := &c.side[a.Side]
	switch a.Kind {
	case ActionSyn:
		return x.state == sideWaiting && c.side[0].state.waits()
	case ActionOpened:
		return s.onOpened(now, c, a.Side)
	case ActionMessage:
		return x.state.receives() && !c.side[1-a.Side].lost
	case ActionBroken:
		return s.onBroken(c, a.Side)
	case ActionRetry:
		s.onRetry(now, c, a.Side)
	case ActionTimeout:
		s.onTimeout(now, c)
	}
	return false
}

func (s *Streams) onOpened(now time.Duration, c *conn, i uint8) bool {
	x := &c.side[i]
	if x.state != sideWaiting {
		return false
	}
	x.state, x.backoff.wait = sideOpen, 0
	if len(x.held) > 0 && c.side[1-i].state.ended() {
		s.reset(now, c, i)
	} else {
		s.flush(now, c, i)
	}
	return true
}

func (s *Streams) onBroken(c *conn, i uint8) bool {
	x := &c.side[i]
	if x.state.ended() {
		return false
	}
	x.state = sideBroken
	x.held, x.bytes = nil, 0
	return true
}

func (s *Streams) onTimeout(now time.Duration, c *conn) {
	if x := &c.side[0]; x.state != sideWaiting {
		return
	}
	if !c.opened {
		c.side[1].state = sideOver
	}
	s.tell(now, c, 0, "the peer did not answer in time: it is down, paused, or cut off")
}
