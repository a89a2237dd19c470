package sse

import (
	"bytes"
	"fmt"

	"hyperscale/runtime/protocol/http1"
)

// EventLimit bounds the bytes of one event, without names and comments: what is kept of an answer.
const EventLimit = http1.BodyLimitDefault

// Event is one event. Bytes are valid only during the call, and empty if the parser keeps nothing.
type Event struct {
	Data []byte // its data fields, with a line feed between two
	Type []byte // empty: "message"
	ID   []byte // of this event, or of the last one before it that had one
}

// Listener receives the events, in their order.
type Listener interface {
	Event(e *Event) (enough bool)
}

// Parser reads the events of one stream from bytes that come in any pieces. The zero value reads a
// new stream.
type Parser struct {
	Keep bool // the listener reads events, and does not only count them

	data, kind, id, newID []byte
	event                 Event // that is reported
	size                  int64 // bytes of the event's fields so far
	name                  [nameMost]byte
	named                 uint8 // bytes in name
	state                 state
	field                 field
	mark                  uint8 // bytes of a byte order mark that are read
	flags                 flag
}

type flag uint8

const (
	flagBegun  flag = 1 << iota // the stream's first bytes are read: a byte order mark is data from now on
	flagCR                      // a line feed that follows belongs to the line that has ended
	flagData                    // the event has a data field
	flagBlank                   // a blank would be the value's first byte, and does not count
	flagNUL                     // the id has a NUL: it does not count
	flagEnough                  // the listener has enough
)

func (p *Parser) is(f flag) bool { return p.flags&f != 0 }
func (p *Parser) set(f flag)     { p.flags |= f }
func (p *Parser) drop(f flag)    { p.flags &^= f }

// nameMost is longer than any field's name that counts.
const nameMost = 6

type state uint8

const (
	stateName state = iota
	stateValue
)

type field uint8

const (
	fieldNone field = iota
	fieldData
	fieldEvent
	fieldID
)

const byteOrderMark = "\xef\xbb\xbf"

var errEventLarge = &http1.Error{Kind: http1.KindTooLarge, Detail: fmt.Sprintf("an event is larger than %d MiB", EventLimit>>20)}

// Reset prepares for another stream, and keeps the memory unless a rare large event grew it.
func (p *Parser) Reset() {
	if cap(p.data) > dataKept {
		p.data = nil
	}
	*p = Parser{Keep: p.Keep, data: p.data[:0], kind: p.kind[:0], id: p.id[:0], newID: p.newID[:0]}
}

const dataKept = 256 << 10

// Feed takes the next bytes of the stream, and reports whether the listener has enough.
func (p *Parser) Feed(b []byte, on Listener) (enough bool, err error) {
	if !p.is(flagBegun) {
		b = p.begin(b)
	}
	cr := bytes.IndexByte(b, '\r') // the first one; most streams have none
	for len(b) > 0 && !p.is(flagEnough) {
		if p.is(flagCR) {
			p.drop(flagCR)
			if b[0] == '\n' {
				b, cr = b[1:], cr-1
				continue
			}
		}
		end := bytes.IndexByte(b, '\n')
		if cr >= 0 && (end < 0 || cr < end) {
			end = cr
		}
		line := b
		if end >= 0 {
			line = b[:end]
		}
		if p.piece(line); p.size > EventLimit {
			return false, errEventLarge
		}
		if end < 0 {
			break
		}
		if b[end] == '\r' {
			p.set(flagCR)
		}
		p.line(on)
		b = b[end+1:]
		if cr >= 0 {
			if cr -= end + 1; cr < 0 {
				cr = bytes.IndexByte(b, '\r')
			}
		}
	}
	return p.is(flagEnough), nil
}

// begin drops a byte order mark before the first line.
func (p *Parser) begin(b []byte) []byte {
	for len(b) > 0 {
		if b[0] != byteOrderMark[p.mark] {
			p.set(flagBegun)
			p.piece([]byte(byteOrderMark[:p.mark])) // it was none: these bytes are a name's
			return b
		}
		b = b[1:]
		if p.mark++; int(p.mark) == len(byteOrderMark) {
			p.set(flagBegun)
			return b
		}
	}
	return nil
}

// piece takes a part of a line.
func (p *Parser) piece(b []byte) {
	if p.state == stateName {
		if b = p.fieldName(b); p.state == stateName {
			return
		}
	}
	if p.is(flagBlank) && len(b) > 0 {
		p.drop(flagBlank)
		if b[0] == ' ' {
			b = b[1:]
		}
	}
	if p.field != fieldNone {
		p.size += int64(len(b))
	}
	if !p.Keep {
		return
	}
	switch p.field {
	case fieldData:
		p.data = append(p.data, b...)
	case fieldEvent:
		p.kind = append(p.kind, b...)
	case fieldID:
		if bytes.IndexByte(b, 0) >= 0 {
			p.set(flagNUL)
		}
		p.newID = append(p.newID, b...)
	}
}

// fieldName takes a part of a field's name, and returns what follows it. A name that is longer than
// those that count ends where it is known to be.
func (p *Parser) fieldName(b []byte) []byte {
	for i, c := range b {
		if c == ':' {
			p.value()
			return b[i+1:]
		}
		p.name[p.named] = c
		if p.named++; p.named == nameMost {
			p.value()
			return nil
		}
	}
	return nil
}

// value begins the value of the field whose name is read.
func (p *Parser) value() {
	p.state, p.field = stateValue, fieldNone
	p.set(flagBlank)
	switch string(p.name[:p.named]) {
	case "data":
		if p.field = fieldData; p.is(flagData) && p.Keep {
			p.data = append(p.data, '\n')
		}
		p.set(flagData)
		p.size++
	case "event":
		p.field, p.kind = fieldEvent, p.kind[:0]
	case "id":
		p.field, p.newID = fieldID, p.newID[:0]
		p.drop(flagNUL)
	}
}

// line takes the end of a line.
func (p *Parser) line(on Listener) {
	if p.state == stateName {
		if p.named == 0 {
			p.dispatch(on)
			return
		}
		p.value() // a name alone has an empty value
	}
	if p.field == fieldID && !p.is(flagNUL) {
		p.id, p.newID = p.newID, p.id
	}
	p.state, p.field, p.named = stateName, fieldNone, 0
}

// dispatch reports the event that a blank line ends.
func (p *Parser) dispatch(on Listener) {
	if p.is(flagData) {
		p.event = Event{Data: p.data, Type: p.kind, ID: p.id}
		if on.Event(&p.event) {
			p.set(flagEnough)
		}
	}
	p.data, p.kind, p.size = p.data[:0], p.kind[:0], 0
	p.drop(flagData)
	if cap(p.data) > dataKept {
		p.data = nil
	}
}
