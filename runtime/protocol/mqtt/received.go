package mqtt

import (
	"bytes"
	"unicode/utf8"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// MessageStands says that the server has granted a subscription: it is no message of its own.
const MessageStands = codec.MessageOwn

// leftCode is the code of an orderly goodbye, as WebSocket has it.
const leftCode = 1000

// The identifiers of a subscription's packets: it publishes nothing that could have them.
const (
	idSubscribes   = 1
	idUnsubscribes = 2
)

// received is what a connection knows of the messages that come.
type received struct {
	stands     bool                // the server has granted the subscription
	again      *uint64             // counts messages that came before; nil: nothing does
	incomplete map[uint16]struct{} // identifiers of QoS 2 whose PUBREL has not come
}

// Subscribe asks for the subscription's messages. Again counts those that came before.
func (c *Conn) Subscribe(again *uint64) error {
	switch {
	case c.broken != nil:
		return c.broken
	case !c.mayTalk() || c.subscription == nil:
		return errOver
	}
	c.got.again = again
	c.filters(packetSubscribe, idSubscribes)
	return nil
}

func (c *Conn) unsubscribe() {
	c.end = endLeft
	c.filters(packetUnsubscribe, idUnsubscribes)
}

// filters queues SUBSCRIBE or UNSUBSCRIBE.
func (c *Conn) filters(kind packetType, id uint16) {
	size := 2
	if c.version == Version5 {
		size++
	}
	for _, f := range c.subscription.Filters {
		if size += 2 + len(f); kind == packetSubscribe {
			size++
		}
	}
	b := appendLength(append(c.out.bytes, byte(kind)<<4|flagReserved), size)
	if b = append16(b, id); c.version == Version5 {
		b = append(b, 0)
	}
	for _, f := range c.subscription.Filters {
		if b = appendText(b, f); kind == packetSubscribe {
			b = append(b, c.subscription.QoS)
		}
	}
	c.out.bytes = b
	c.quiet = 0
}

// onFilters takes SUBACK or UNSUBACK.
func (c *Conn) onFilters(p *packet, on codec.Listener) *http1.Error {
	id, rest, ok := cut16(p.body)
	grants := p.kind == packetSuback
	switch {
	case !ok || c.subscription == nil || grants && (id != idSubscribes || c.got.stands) || !grants && (id != idUnsubscribes || c.end != endLeft):
		return errIdentifier(p.kind)
	}
	var all properties
	var err *http1.Error
	if c.version == Version5 {
		if all, rest, err = cutProperties(rest, false); err != nil {
			return err
		}
	}
	if n := len(c.subscription.Filters); (grants || c.version == Version5) && len(rest) != n || !grants && c.version != Version5 && len(rest) > 0 {
		return errCodes(p.kind, len(rest), n)
	}
	if !grants {
		c.disconnect()
		on.Leaves(leftCode, "")
		return nil
	}
	for i, code := range rest {
		switch {
		case code >= codeBad:
			refused := serverError(code, string(all.reason))
			refused.Detail += ": the subscription to " + clip([]byte(c.subscription.Filters[i]))
			c.told = refused
			return refused
		case code > 2:
			return errCodes(p.kind, len(rest), len(rest))
		}
	}
	c.got.stands = true
	on.Message(MessageStands, nil)
	return nil
}

// onPublish takes a message.
func (c *Conn) onPublish(p *packet, on codec.Listener) *http1.Error {
	qos := p.flags >> qosShift & 3
	topic, rest, ok := cutText(p.body)
	switch {
	case c.subscription == nil && !c.resumes:
		return errWanted
	case qos == 3 || qos == 0 && p.flags&flagAgain != 0:
		return errFlags
	case !ok || bytes.ContainsAny(topic, "+#\x00") || !utf8.Valid(topic):
		return errTopic
	}
	var id uint16
	if qos > 0 {
		if id, rest, ok = cut16(rest); !ok || id == 0 {
			return errIdentifier(p.kind)
		}
	}
	var all properties
	if c.version == Version5 {
		var err *http1.Error
		if all, rest, err = cutProperties(rest, true); err != nil {
			return err
		}
	}
	switch {
	case all.alias > 0:
		return errAlias
	case len(topic) == 0:
		return errTopic
	case int64(len(rest)) > c.most:
		return errLarge(int64(len(rest)), c.most)
	case len(c.out.left()) > oweMost:
		return errOwes
	}
	c.in.idle = 0
	if c.acknowledges(qos, id, p.flags&flagAgain != 0) && c.subscription != nil {
		c.outcome = Outcome{Topic: topic, Reply: all.reply, Fields: all.fields, Retains: p.flags&flagRetain != 0}
		on.Message(codec.MessageText, rest)
		c.outcome = Outcome{}
	}
	return nil
}

// acknowledges answers a message, and reports whether it is a new one.
func (c *Conn) acknowledges(qos uint8, id uint16, again bool) bool {
	switch qos {
	case 1:
		c.out.bytes = appendAck(c.out.bytes, packetPuback, 0, id)
	case 2:
		c.out.bytes = appendAck(c.out.bytes, packetPubrec, 0, id)
		if _, known := c.got.incomplete[id]; known {
			c.got.cameAgain()
			return false
		}
		if c.got.incomplete == nil {
			c.got.incomplete = map[uint16]struct{}{}
		}
		c.got.incomplete[id] = struct{}{}
	}
	if again {
		c.got.cameAgain()
	}
	return true
}

func (r *received) cameAgain() {
	if r.again != nil {
		*r.again++
	}
}

// onRelease completes the exchange of a message of QoS 2.
func (c *Conn) onRelease(p *packet) *http1.Error {
	a, err := readAck(c.version, p)
	switch {
	case err != nil:
		return err
	case c.subscription == nil && !c.resumes:
		return errKind(p.kind)
	case len(c.out.left()) > oweMost:
		return errOwes
	}
	delete(c.got.incomplete, a.id)
	c.out.bytes = appendAck(c.out.bytes, packetPubcomp, 0, a.id)
	return nil
}
