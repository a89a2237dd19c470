package netsim

import (
	"time"

	"hyperscale/core/node"
)

// ActionKind distinguishes actions.
type ActionKind uint8

// Actions that the network asks the world to return at a later time.
const (
	ActionNone    ActionKind = iota
	ActionSyn                // a request to open arrives at side 1: Accept or Refuse it
	ActionOpened             // report to Side that the stream is open
	ActionMessage            // deliver Message to Side
	ActionBroken             // report to Side that the stream broke, with Reason
	ActionRetry              // internal: Side retransmits
	ActionTimeout            // internal: opening the stream timed out
)

// Action is an event at one side of a stream. The world keeps it until its time, and then calls
// Happens.
type Action struct {
	At      time.Duration
	Kind    ActionKind
	Side    uint8 // 0: the opener, 1: the acceptor
	Stream  ConnID
	Host    Host // of Side
	Message node.Message
	Digest  uint64
	Reason  string
}

// ConnID identifies a stream for both sides. It holds a number that is never used again, above
// the stream's slot.
type ConnID uint64

const slotBits = 20

// Of returns the stream ID that the node of one side uses.
func (c ConnID) Of(side uint8) node.StreamID { return node.StreamID(c)<<1 | node.StreamID(side) }

// End returns the stream and the side of a node's stream ID.
func End(s node.StreamID) (ConnID, uint8) { return ConnID(s >> 1), uint8(s & 1) }

// sideState is the state of one end of a stream.
type sideState uint8

const (
	sideWaiting  sideState = iota // its machine has not seen the opening
	sideFailing                   // the same, and a break is on its way to it
	sideOpen                      // its machine sends and receives
	sideBreaking                  // open, and a break is on its way to it
	sideBroken                    // the break has arrived, its machine does not know it yet
	sideClosing                   // it closed, and the end has not left for the other side
	sideOver                      // closed, crashed, or its machine knows of the break
)

// waits: the machine of this side has not seen the opening.
func (s sideState) waits() bool { return s <= sideFailing }

// receives: messages that arrive at this side reach its machine.
func (s sideState) receives() bool { return s == sideOpen || s == sideBreaking }

// breaks: a break is on its way to this side.
func (s sideState) breaks() bool { return s == sideFailing || s == sideBreaking }

// ended: a break has arrived, or the side has closed.
func (s sideState) ended() bool { return s >= sideBroken }

// closed: the machine of this side has closed it, or knows that it broke.
func (s sideState) closed() bool { return s >= sideClosing }

// held is a message that has not left.
type held struct {
	message  node.Message
	digest   uint64
	size     int
	priority node.Priority
}

// sent is a message whose last byte leaves at some time.
type sent struct {
	left time.Duration
	size int
}

// slowLeast is how long a message must take to leave for the network to count its bytes: on a link
// that keeps up there is nothing to count.
const slowLeast = 10 * time.Millisecond

// backlog returns how many bytes wait to be written on a side.
func (x *side) backlog(now time.Duration) int {
	for len(x.leaving) > 0 && x.leaving[0].left <= now {
		x.slow -= x.leaving[0].size
		x.leaving = x.leaving[1:]
	}
	if len(x.leaving) == 0 {
		x.leaving = nil
	}
	return x.bytes + x.slow
}

type side struct {
	host  Host
	peer  node.Peer
	state sideState
	seen  bool // its machine has seen the opening
	mute  bool // what it sends is lost, and neither side learns of it
	lost  bool // what it had in flight is lost

	held    []held
	bytes   int    // of held
	leaving []sent // on their way out over a slow link, in order
	slow    int    // bytes of leaving
	backoff backoff

	last   [node.Priorities]time.Duration // when the last message of a priority arrives
	latest time.Duration                  // the latest of them
}

// becomeBreaking records that a break is on its way to the side.
func (x *side) becomeBreaking() {
	switch x.state {
	case sideWaiting:
		x.state = sideFailing
	case sideOpen:
		x.state = sideBreaking
	default:
		node.Bug("netsim: a break is sent to a side in state %d", x.state)
	}
}

// becomeOver ends the side and drops the messages that wait.
func (x *side) becomeOver() { x.state, x.held, x.bytes, x.leaving, x.slow = sideOver, nil, 0, nil, 0 }

// backoff spaces the attempts of a side whose bytes do not pass.
type backoff struct {
	pending bool          // an attempt is scheduled
	wait    time.Duration // before the last attempt; zero: bytes pass
	since   time.Duration // when bytes stopped passing
}

// next schedules an attempt and returns the wait before it. It returns false if one is
// scheduled already.
func (b *backoff) next(now time.Duration, c *Config) (time.Duration, bool) {
	if b.pending {
		return 0, false
	}
	if b.wait == 0 {
		b.wait, b.since = c.RetryMin, now
	} else {
		b.wait = min(2*b.wait, c.RetryMax)
	}
	b.pending = true
	return b.wait, true
}

type conn struct {
	id     ConnID
	opened bool // the opener has learnt, or will learn, of the opening
	side   [2]side
}

// Streams holds all streams of a network. It appends later actions to Out, which the world
// empties.
type Streams struct {
	Out []Action

	net    *Network
	conns  []*conn
	free   []uint32
	number uint64
}

// NewStreams returns an empty table.
func NewStreams(n *Network) *Streams { return &Streams{net: n} }

func (s *Streams) find(id ConnID) *conn {
	slot := id & (1<<slotBits - 1)
	if int(slot) < len(s.conns) && s.conns[slot].id == id {
		return s.conns[slot]
	}
	return nil
}

func (s *Streams) create() *conn {
	s.number++
	var slot uint32
	if n := len(s.free); n > 0 {
		slot = s.free[n-1]
		s.free = s.free[:n-1]
	} else {
		slot = uint32(len(s.conns))
		if slot>>slotBits != 0 {
			node.Bug("netsim: %d streams at once are above the bound of %d", slot, 1<<slotBits)
		}
		s.conns = append(s.conns, &conn{})
	}
	c := s.conns[slot]
	*c = conn{id: ConnID(s.number<<slotBits | uint64(slot))}
	return c
}

// release frees a stream that neither side can hear of any more.
func (s *Streams) release(c *conn) {
	if c.side[0].state != sideOver || c.side[1].state != sideOver {
		return
	}
	slot := uint32(c.id & (1<<slotBits - 1))
	c.id = 0
	c.side = [2]side{}
	s.free = append(s.free, slot)
}

func (s *Streams) act(at time.Duration, kind ActionKind, c *conn, to uint8) *Action {
	s.Out = append(s.Out, Action{At: at, Kind: kind, Side: to, Stream: c.id, Host: c.side[to].host})
	return &s.Out[len(s.Out)-1]
}

// Peer returns the node at the other end of a node's stream.
func (s *Streams) Peer(id node.StreamID) node.Peer {
	c, i := s.end(id)
	if c == nil {
		return node.Peer{}
	}
	return c.side[1-i].peer
}

func (s *Streams) end(id node.StreamID) (*conn, uint8) {
	cid, i := End(id)
	return s.find(cid), i
}

// Hears says whether a node may still receive messages of its stream.
func (s *Streams) Hears(id node.StreamID) bool {
	c, i := s.end(id)
	return c != nil && (c.side[i].state.receives() || c.side[i].state == sideBroken)
}

// See records that the machine saw the opening. It returns false if the machine must not see
// it: it has seen it before, or has closed the stream.
func (s *Streams) See(id node.StreamID) bool {
	if !s.Hears(id) {
		return false
	}
	c, i := s.end(id)
	first := !c.side[i].seen
	c.side[i].seen = true
	return first
}

// Told records that the machine learnt of the break. It returns false if the machine must not
// learn of it, as it closed the stream before.
func (s *Streams) Told(id node.StreamID) bool {
	c, i := s.end(id)
	if c == nil || c.side[i].state != sideBroken {
		return false
	}
	c.side[i].becomeOver()
	s.release(c)
	return true
}

// Send sends a message on a node's stream, from a side that is open or opening. On any other it
// drops the message.
func (s *Streams) Send(now time.Duration, id node.StreamID, m node.Message, digest uint64, size int) {
	c, i := s.end(id)
	if c == nil {
		return
	}
	x, y := &c.side[i], &c.side[1-i]
	if x.state != sideWaiting && x.state != sideOpen || x.mute {
		return
	}
	h := held{m, digest, size, m.Priority()}
	if !c.opened || x.state == sideWaiting || len(x.held) > 0 {
		s.hold(now, c, i, h)
		return
	}
	if y.state.ended() {
		s.reset(now, c, i)
		return
	}
	if !s.carry(now, c, i, h) {
		s.hold(now, c, i, h)
		s.retry(now, c, i)
	}
}

// Backlog returns how many bytes wait to be written on a node's stream, and how many break it.
func (s *Streams) Backlog(now time.Duration, id node.StreamID) (bytes, bound int) {
	c, i := s.end(id)
	if c == nil {
		return 0, 0
	}
	return c.side[i].backlog(now), s.net.config.StreamMax
}

// carry sends one message now, unless the network is cut.
func (s *Streams) carry(now time.Duration, c *conn, i uint8, h held) bool {
	x := &c.side[i]
	at, left, ok := s.net.segment(now, x.host, c.side[1-i].host, h.size)
	if !ok {
		return false
	}
	if left-now > slowLeast {
		x.leaving, x.slow = append(x.leaving, sent{left, h.size}), x.slow+h.size
		if x.backlog(now) > s.net.config.StreamMax {
			s.sever(now, c, i, reasonBacklog)
			return true
		}
	}
	at = max(at, x.last[h.priority])
	x.last[h.priority] = at
	x.latest = max(x.latest, at)
	a := s.act(at, ActionMessage, c, 1-i)
	a.Message, a.Digest = h.message, h.digest
	return true
}

func (s *Streams) hold(now time.Duration, c *conn, i uint8, h held) {
	x := &c.side[i]
	x.held = append(x.held, h)
	x.bytes += h.size
	if x.backlog(now) > s.net.config.StreamMax {
		s.sever(now, c, i, reasonBacklog)
	}
}

// retry schedules the next attempt of a side whose bytes do not pass.
func (s *Streams) retry(now time.Duration, c *conn, i uint8) {
	if wait, ok := c.side[i].backoff.next(now, &s.net.config); ok {
		s.act(now+wait, ActionRetry, c, i)
	}
}

// onRetry sends the held messages. If they still do not pass, the side waits again, or breaks
// after StallMax.
func (s *Streams) onRetry(now time.Duration, c *conn, i uint8) {
	x, y := &c.side[i], &c.side[1-i]
	x.backoff.pending = false
	if !c.opened {
		s.syn(now, c)
		return
	}
	if x.state.breaks() || x.state.ended() && x.state != sideClosing {
		return
	}
	if !s.net.Passes(now, x.host, y.host) {
		if now-x.backoff.since >= s.net.config.StallMax {
			s.giveUp(now, c, i)
		} else {
			s.retry(now, c, i)
		}
		return
	}
	x.backoff.wait = 0
	if y.state.ended() {
		s.reset(now, c, i)
		return
	}
	s.flush(now, c, i)
}

// flush sends the held messages while they pass, then the end if the side closed.
func (s *Streams) flush(now time.Duration, c *conn, i uint8) {
	x := &c.side[i]
	for len(x.held) > 0 {
		h := x.held[0]
		if !s.carry(now, c, i, h) {
			s.retry(now, c, i)
			return
		}
		x.held = x.held[1:]
		x.bytes -= h.size
	}
	x.held = nil
	if x.state == sideClosing {
		s.finish(now, c, i)
	}
}
