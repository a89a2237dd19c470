package mqtt

import (
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// intake is what came of a packet that is not whole.
type intake struct {
	held  []byte
	need  int  // bytes of held without which nothing is whole; 0: the packet's first bytes
	idle  int  // packets in a row that carry no message
	heard bool // something came since the operation before was given up
}

// Feed takes the next bytes from the server. The listener may call every method but Feed and Release.
// After an error the connection can only be closed.
func (c *Conn) Feed(b []byte, on codec.Listener) error {
	if c.broken != nil {
		return c.broken
	}
	in := &c.in
	in.heard = in.heard || len(b) > 0
	if len(in.held) == 0 {
		n, err := c.take(b, on)
		if err != nil {
			return c.breaks(err)
		}
		if n < len(b) {
			in.held = append(in.held, b[n:]...)
		}
		return nil
	}
	if in.held = append(in.held, b...); len(in.held) < in.need {
		return nil
	}
	n, err := c.take(in.held, on)
	if err != nil {
		return c.breaks(err)
	}
	if in.held = append(in.held[:0], in.held[n:]...); len(in.held) == 0 && cap(in.held) > bufferKept {
		in.held = nil
	}
	return nil
}

func (c *Conn) breaks(err *http1.Error) error {
	c.broken, c.in.held = err, nil
	return err
}

// take takes whole packets, and returns how many bytes they have.
func (c *Conn) take(b []byte, on codec.Listener) (used int, err *http1.Error) {
	for used < len(b) {
		c.in.need = 0
		p, head, long := readHead(b[used:])
		if err := c.plausible(&p, head > 0); err != nil {
			return used, err
		}
		if long != nil {
			return used, long
		}
		if head == 0 {
			return used, nil
		}
		whole := head + p.size
		if len(b)-used < whole {
			c.in.need = whole
			return used, nil
		}
		p.body = b[used+head : used+whole]
		used += whole
		if err := c.onPacket(&p, on); err != nil {
			return used, err
		}
	}
	return used, nil
}

// plausible judges a packet by its first byte, and with sized by its length, too.
func (c *Conn) plausible(p *packet, sized bool) *http1.Error {
	switch p.kind {
	case packetPublish:
		if most := c.most + controlMost; sized && int64(p.size) > most {
			return errLarge(int64(p.size), c.most)
		}
		return nil
	case packetPubrel:
		if p.flags != flagReserved {
			return errFlags
		}
	case packetPuback, packetPubrec, packetPubcomp, packetSuback, packetUnsuback, packetPingresp, packetDisconnect:
		if p.flags != 0 {
			return errFlags
		}
	default:
		return errKind(p.kind)
	}
	if sized && p.size > controlMost {
		return errControl
	}
	return nil
}

// onPacket takes a whole packet.
func (c *Conn) onPacket(p *packet, on codec.Listener) *http1.Error {
	if p.kind == packetPublish {
		return c.onPublish(p, on)
	}
	if c.in.idle++; c.in.idle > idleMost {
		return errFlood
	}
	switch p.kind {
	case packetPuback, packetPubrec, packetPubcomp:
		if c.subscription != nil {
			return errKind(p.kind)
		}
		return c.onAck(p, on)
	case packetPubrel:
		return c.onRelease(p)
	case packetSuback, packetUnsuback:
		return c.onFilters(p, on)
	case packetPingresp:
		return c.onPong(p, on)
	}
	return c.onDisconnect(p, on)
}
