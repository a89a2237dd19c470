package mqtt

import (
	"slices"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// stage is what an exchange waits for.
type stage uint8

const (
	stageNone stage = iota // nothing
	stageAck               // a PUBACK
	stageRec               // a PUBREC
	stageComp              // a PUBCOMP
)

func stageOf(qos uint8) stage { return [...]stage{stageNone, stageAck, stageRec}[qos] }

// asked is the operation that was queued last.
type asked struct {
	of    *Operation
	id    uint16
	stage stage
	late  *uint64
}

// lost is an operation that was given up, and whose exchange is not complete: the server may hold its
// identifier.
type lost struct {
	id    uint16
	stage stage
	count *uint64 // nil: it is counted, or nothing counts it
}

// next returns an identifier that the server does not hold.
func (c *Conn) next() uint16 {
	id := c.op.id
	for {
		if id++; id == 0 {
			id = 1
		}
		if !slices.ContainsFunc(c.lost, func(l lost) bool { return l.id == id }) {
			return id
		}
	}
}

// giveUp forgets the open operation; false: the server may take no further one on this connection.
func (c *Conn) giveUp() bool {
	if c.op.stage == stageNone {
		return true
	}
	if len(c.lost) == lateMost || len(c.lost)+2 > int(c.limits.receive) {
		return false
	}
	c.lost = append(c.lost, lost{c.op.id, c.op.stage, c.op.late})
	c.op.stage = stageNone
	return true
}

// acknowledgement is a packet of the server about an exchange.
type acknowledgement struct {
	id     uint16
	code   uint8
	reason []byte
}

// readAck reads PUBACK, PUBREC, PUBREL or PUBCOMP.
func readAck(v Version, p *packet) (a acknowledgement, err *http1.Error) {
	id, rest, ok := cut16(p.body)
	switch {
	case !ok || id == 0:
		return a, errIdentifier(p.kind)
	case len(rest) > 0 && v != Version5:
		return a, errPacketEnd(p.kind)
	}
	if a.id = id; len(rest) > 0 {
		a.code, rest = rest[0], rest[1:]
	}
	if len(rest) > 0 {
		all, behind, err := cutProperties(rest, false)
		if err != nil {
			return a, err
		}
		if len(behind) > 0 {
			return a, errPacketEnd(p.kind)
		}
		a.reason = all.reason
	}
	return a, nil
}

// onAck takes what the server says about the exchange of an operation.
func (c *Conn) onAck(p *packet, on codec.Listener) *http1.Error {
	a, err := readAck(c.version, p)
	if err != nil {
		return err
	}
	wants := ended(p.kind)
	if c.op.stage != stageNone && c.op.id == a.id {
		if c.op.stage == stageComp && wants == stageRec { // it is sent again
			c.out.releases(a.id)
			return nil
		}
		if c.op.stage != wants {
			return errStage(p.kind)
		}
		if len(c.out.departs) > 0 {
			return errEarly
		}
		if c.op.stage = c.after(wants, &a); c.op.stage == stageNone {
			c.ends(&a, on)
		}
		return nil
	}
	c.late(wants, &a)
	return nil
}

// ended is the stage that a packet ends.
func ended(p packetType) stage {
	switch p {
	case packetPuback:
		return stageAck
	case packetPubrec:
		return stageRec
	}
	return stageComp
}

// after answers the server, and returns what its exchange waits for now.
func (c *Conn) after(was stage, a *acknowledgement) stage {
	if was != stageRec || a.code >= codeBad {
		return stageNone
	}
	c.out.releases(a.id)
	return stageComp
}

// releases tells the server to forget an identifier.
func (o *outbox) releases(id uint16) {
	o.bytes = appendAck(o.bytes, packetPubrel, flagReserved, id)
}

// late counts what no open operation waits for: of one that was given up, or a second one. The exchange of
// one that was given up goes on, as its identifier is free only behind that.
func (c *Conn) late(is stage, a *acknowledgement) {
	i := slices.IndexFunc(c.lost, func(l lost) bool { return l.id == a.id })
	if i < 0 {
		if is == stageRec {
			c.out.releases(a.id)
		}
		if c.op.late != nil {
			*c.op.late++
		}
		return
	}
	l := &c.lost[i]
	if l.count != nil {
		*l.count++
		l.count = nil
	}
	if l.stage = c.after(is, a); l.stage == stageNone {
		c.lost = slices.Delete(c.lost, i, i+1)
	}
}

// ends ends the open operation.
func (c *Conn) ends(a *acknowledgement, on codec.Listener) {
	c.in.idle = 0
	if a.code >= codeBad {
		c.outcome.Err = serverError(a.code, string(a.reason))
	}
	on.Message(codec.MessageText, nil)
	c.outcome = Outcome{}
}

// onPong takes the answer to the oldest PINGREQ.
func (c *Conn) onPong(p *packet, on codec.Listener) *http1.Error {
	if len(c.pings) == 0 || len(p.body) > 0 {
		return errPong
	}
	ping := c.pings[0]
	if c.pings = slices.Delete(c.pings, 0, 1); ping.kind == pingAsks {
		on.Pong(ping.payload)
	}
	return nil
}

// onDisconnect takes the server's goodbye, which only version 5 has.
func (c *Conn) onDisconnect(p *packet, on codec.Listener) *http1.Error {
	if c.version != Version5 {
		return errKind(p.kind)
	}
	var a acknowledgement
	if len(p.body) > 0 {
		a.code = p.body[0]
	}
	if len(p.body) > 1 {
		all, behind, err := cutProperties(p.body[1:], false)
		if err != nil {
			return err
		}
		if len(behind) > 0 {
			return errPacketEnd(p.kind)
		}
		a.reason = all.reason
	}
	err := errGoodbye
	if a.code >= codeBad {
		err = serverError(a.code, string(a.reason))
	}
	c.told = err
	switch {
	case c.subscription != nil:
		return err
	case c.op.stage != stageNone:
		c.op.stage = stageNone
		c.outcome.Err = err
		on.Message(codec.MessageText, nil)
		c.outcome = Outcome{}
	}
	return nil
}
