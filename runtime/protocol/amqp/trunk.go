package amqp

import (
	"encoding/binary"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// line is what a connection knows of one of its channels.
type line struct {
	number  uint16 // 0: the only one, which has channelNumber
	op      asked
	channel channel
	lost    lost
	filled  filled
	content content
	outcome Outcome
	came    int     // bytes since the operation was asked for
	queued  int     // bytes of it; 0: it waits
	gone    *uint64 // counts the answer of an operation that was given up with its channel; nil: nothing does
	quiet   *uint64 // counts errors of the last publication that nothing confirms; nil: there was none
}

// channels are those of a trunk: each exchange has the one of its id, which opens with its first operation.
type channels struct {
	*line           // the channel at hand
	own     line    // that of a connection by itself
	many    []*line // by id-1; nil: the connection is no trunk
	numbers uint16  // the greatest one
	paused  holds   // of all
	loose   bool    // a message has gone out that the server does not confirm
}

// Unconfirmed implements codec.Unconfirmed.
func (c *channels) Unconfirmed() bool { return c.loose }

// on makes a channel the one at hand, and reports whether there is such a one. 0 is the connection itself.
func (c *channels) on(number uint16) bool {
	switch {
	case number == 0:
		return true
	case c.many == nil:
		return number == channelNumber
	case int(number) > len(c.many):
		return false
	}
	c.line = c.many[number-1]
	return true
}

// Carry implements codec.Trunk.
func (c *channels) Carry(id uint32) {
	for int(id) > len(c.many) {
		l := &line{number: uint16(len(c.many) + 1)}
		if l.channel.holds = c.paused; l.number != channelNumber { // the greeting has opened the first one
			l.channel.state = channelGone
		}
		c.many = append(c.many, l)
	}
	c.line = c.many[id-1]
}

// Room implements codec.Trunk.
func (c *channels) Room() int { return int(c.numbers) }

// Keeps implements codec.Trunk: what the server refuses of a message that nothing confirms closes its channel later.
func (c *channels) Keeps() bool { return true }

// Pauses implements codec.Pausing: a server that has blocked publishers reads nothing of a connection that publishes.
func (c *channels) Pauses() bool { return c.paused != 0 }

// Queued implements codec.Trunk: a message waits while the server blocks publishers, and anything while its channel
// closes.
func (c *channels) Queued(id uint32) int { return c.many[id-1].queued }

// Answers implements codec.Trunk.
func (c *channels) Answers() (id uint32, in int) { return uint32(c.line.number), c.came }

// GiveUp implements codec.Trunk. What names no message, as a return does, ends with its channel: that
// is closed. Half a frame keeps back those behind it, and half a message those of its channel, as does a channel whose
// end the server does not agree to: then the connection carries no more.
func (c *Conn) GiveUp(id uint32) bool {
	held := c.in.held
	half := len(held) > 0 && (len(held) < 3 || binary.BigEndian.Uint16(held[1:]) == uint16(id))
	c.Carry(id)
	half = half || c.op.open && c.content.stage != stageNone || c.op.waits && c.channel.holds&holdsClosing != 0
	switch {
	case c.op.waits:
		c.op.waits, c.op.open = false, false
	case !c.op.open:
	case !c.mayTalk() || c.channel.state >= channelGone:
		c.op.open = false
	case c.op.of.message.Mandatory || len(c.channel.expects) > expectsMost:
		c.op.open, c.gone = false, c.op.counts.Late
		from := len(c.out.bytes)
		c.out.bytes = appendMethod(c.out.bytes, channelClose, []uint64{codeGoodbye}, "given up")
		c.stamp(c.out.bytes[from:])
		c.channel = channel{state: channelCloses, holds: c.channel.holds | holdsClosing, expects: c.channel.expects[:0]}
		c.lost, c.content.stage = lost{}, stageNone
	default:
		c.giveUp()
	}
	return !half
}

// drops takes a frame on a channel that we have closed. The frames that the server had sent before are no flood, of so
// many channels as close at once; one that goes on and on is.
func (c *channel) drops(in *intake) {
	if c.dropped < idleMost {
		c.dropped++
		in.idle = 0
	}
}

// onClosing takes a method on a channel that we have closed: all but its end is what the server had sent before.
func (c *Conn) onClosing(m *call) *http1.Error {
	switch m.of {
	case basicAck, basicNack:
		count(c.gone) // of what was given up
	case channelClose:
		c.out.bytes = appendMethod(c.out.bytes, channelCloseOK, nil)
	case channelCloseOK:
		c.in.idle = 0 // it answers ours
		c.channel = channel{state: channelGone, holds: c.channel.holds & holdsBlocked, expects: c.channel.expects}
		c.channel.holds |= holdsClosing
		c.goesOn(holdsClosing)
	}
	return nil
}

// stands reports whether a channel is open, and makes it the one at hand.
func (c *channels) stands() bool {
	if c.many == nil {
		return c.channel.state < channelGone
	}
	for _, l := range c.many {
		if l.channel.state < channelGone && len(l.channel.expects) <= expectsMost {
			c.line = l
			return true
		}
	}
	return false
}

// stamp names a channel in frames that were queued for it.
func (l *line) stamp(b []byte) {
	if l.number <= channelNumber {
		return
	}
	for ; len(b) > 0; b = b[frameOver+int(binary.BigEndian.Uint32(b[3:])):] {
		if binary.BigEndian.Uint16(b[1:]) != 0 {
			binary.BigEndian.PutUint16(b[1:], l.number)
		}
	}
}

// faulty returns what counts an error that no open operation caused.
func (l *line) faulty() *uint64 {
	if l.number > 0 && l.quiet != nil {
		return l.quiet
	}
	return l.op.counts.Errors
}

// blocks takes that the server takes no more messages, or takes them again.
func (c *Conn) blocks(is bool) {
	if c.paused = 0; is {
		c.paused = holdsBlocked
	}
	all := c.many
	if all == nil {
		all = []*line{&c.own}
	}
	for _, l := range all {
		if c.line = l; is {
			l.channel.holds |= holdsBlocked
		} else {
			c.goesOn(holdsBlocked)
		}
	}
}

// failAll ends the operations of all channels with what the server ends the connection with.
func (c *Conn) failAll(err *http1.Error, on codec.Listener) {
	none := true
	for _, l := range c.many {
		if c.line = l; l.op.open && !l.op.waits {
			none = false
			l.outcome = Outcome{Err: err}
			c.ends(nil, on)
		}
	}
	if none {
		count(c.faulty())
	}
}
