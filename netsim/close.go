package netsim

import "time"

// The reasons for which the network itself breaks a stream.
const (
	reasonClosed  = "closed by the peer"
	reasonReset   = "reset by the peer: it does not know the stream"
	reasonCrashed = "reset by the peer: it ended"
	reasonBacklog = "more bytes waited to be written than a stream may hold: the peer or its link is too slow"
	reasonStalled = "what was sent did not get through in time"
)

// tell schedules the arrival of a break at a side. Only the first one counts, and none at a
// side that has not heard of the stream.
func (s *Streams) tell(at time.Duration, c *conn, i uint8, reason string) {
	x := &c.side[i]
	if x.state.breaks() || x.state.ended() {
		return
	}
	if i == 1 && !c.opened {
		x.state = sideOver // the request finds no listener
		return
	}
	x.becomeBreaking()
	s.act(at, ActionBroken, c, i).Reason = reason
}

// Close ends a node's side on purpose: what it sent still arrives, then the other side learns
// of the end.
func (s *Streams) Close(now time.Duration, end ConnID, i uint8) {
	c := s.find(end)
	if c == nil || c.side[i].state.closed() {
		return
	}
	x, y := &c.side[i], &c.side[1-i]
	was, asked := x.state, x.state == sideOpen && !x.mute
	x.state = sideOver
	if !c.opened {
		y.state = sideOver // the request finds no listener
	}
	if asked && !y.state.ended() {
		x.state = sideClosing
		s.flush(now, c, i)
	}
	if x.state != sideClosing {
		x.held, x.bytes = nil, 0
	}
	if c.opened && was.waits() {
		s.cutOff(now, c, i, reasonClosed)
	}
	s.release(c)
}

// finish sends the end of a closed side, after all that it sent.
func (s *Streams) finish(now time.Duration, c *conn, i uint8) {
	x, y := &c.side[i], &c.side[1-i]
	at, _, ok := s.net.segment(now, x.host, y.host, 0)
	if !ok {
		s.retry(now, c, i)
		return
	}
	x.state = sideOver
	s.tell(max(at, x.latest), c, 1-i, reasonClosed)
	s.release(c)
}

// reset breaks a side that sends to a side that has ended.
func (s *Streams) reset(now time.Duration, c *conn, i uint8) {
	x, y := &c.side[i], &c.side[1-i]
	if x.state.closed() { // it waited only to report its end
		x.becomeOver()
		s.release(c)
		return
	}
	there, _, ok := s.net.segment(now, x.host, y.host, 0)
	back, _, ok2 := s.net.segment(there, y.host, x.host, 0)
	if !ok || !ok2 {
		s.retry(now, c, i)
		return
	}
	s.tell(back, c, i, reasonReset)
}

// giveUp breaks a side whose bytes did not pass for too long. The other side notices only when
// it sends.
func (s *Streams) giveUp(now time.Duration, c *conn, i uint8) {
	x := &c.side[i]
	if x.state.closed() {
		x.becomeOver()
		s.release(c)
		return
	}
	s.tell(now, c, i, reasonStalled)
}

// sever breaks a side now, and the other side too if the network is not cut.
func (s *Streams) sever(now time.Duration, c *conn, i uint8, reason string) {
	c.side[0].lost, c.side[1].lost = true, true
	s.tell(now, c, i, reason)
	s.cutOff(now, c, i, reason)
}

// cutOff breaks the other side without waiting for what is in flight. If the network is cut,
// that side notices when it sends.
func (s *Streams) cutOff(now time.Duration, c *conn, i uint8, reason string) {
	x, y := &c.side[i], &c.side[1-i]
	if at, _, ok := s.net.segment(now, x.host, y.host, 0); ok {
		s.tell(at, c, 1-i, reason)
	}
}

// Break ends a stream at both sides and drops all that is in flight. The named side learns of
// it at once.
func (s *Streams) Break(now time.Duration, id ConnID, i uint8, reason string) {
	if c := s.find(id); c != nil {
		s.sever(now, c, i, reason)
	}
}

// HalfOpen ends one side only. The other side notices when it sends, or, if never is set, not
// even then.
func (s *Streams) HalfOpen(now time.Duration, id ConnID, i uint8, never bool, reason string) {
	c := s.find(id)
	if c == nil || !c.opened {
		return
	}
	c.side[1-i].mute = never
	s.tell(now, c, i, reason)
}

// Crash ends all sides of a host whose process crashed. For each stream lose decides whether
// its messages in flight are lost.
func (s *Streams) Crash(now time.Duration, h Host, lose func() bool) {
	for _, c := range s.conns {
		for i := range c.side {
			if c.id == 0 || c.side[i].host != h || c.side[i].state.closed() {
				continue
			}
			s.crash(now, c, uint8(i), lose())
		}
	}
}

func (s *Streams) crash(now time.Duration, c *conn, i uint8, lose bool) {
	x, y := &c.side[i], &c.side[1-i]
	if !c.opened && i == 1 {
		return // a request on its way reaches the next process
	}
	x.becomeOver()
	if !c.opened {
		y.state = sideOver
	} else if at, _, ok := s.net.segment(now, x.host, y.host, 0); ok && !x.mute {
		if lose {
			x.lost = true
		} else {
			at = max(at, x.latest)
		}
		s.tell(at, c, 1-i, reasonCrashed)
	}
	s.release(c)
}

// Between returns the streams whose sides match, in a fixed order, with the side that lies in
// the first argument.
func (s *Streams) Between(match func(a, b Host) bool) (found []ConnID, sides []uint8) {
	for _, c := range s.conns {
		if c.id == 0 || c.side[0].state.closed() && c.side[1].state.closed() {
			continue
		}
		if match(c.side[0].host, c.side[1].host) {
			found, sides = append(found, c.id), append(sides, 0)
		} else if match(c.side[1].host, c.side[0].host) {
			found, sides = append(found, c.id), append(sides, 1)
		}
	}
	return found, sides
}
