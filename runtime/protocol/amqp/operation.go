package amqp

import (
	"encoding/binary"
	"slices"
	"strconv"

	"hyperscale/runtime/protocol/http1"
)

// Part is a piece of a text: its own bytes, or a value.
type Part struct {
	Text  string
	Value int // index; below 0: Text
}

// Text is what an operation has at one place.
type Text []Part

// Plain returns a text without values.
func Plain(s string) Text { return Text{{Text: s, Value: -1}} }

// open reports whether a value stands in the text.
func (t Text) open() bool { return slices.ContainsFunc(t, func(p Part) bool { return p.Value >= 0 }) }

// fill appends the text with its values.
func (t Text) fill(dst []byte, values [][]byte) []byte {
	for _, p := range t {
		if dst = append(dst, p.Text...); p.Value >= 0 {
			dst = append(dst, values[p.Value]...)
		}
	}
	return dst
}

// Header is a field of a message's headers.
type Header struct {
	Name  string // at most 255 bytes
	Value Text
}

// PriorityNone is that of a message without one.
const PriorityNone = -1

// Message is what an operation publishes. Its own texts are checked where the file is loaded.
type Message struct {
	Exchange, Key Text
	Confirm       bool // the server says that it has the message; else the kernel's word is all
	Mandatory     bool // and returns it if no queue gets it: with Confirm only
	Persistent    bool
	Priority      int // from 0 to 255; PriorityNone: none
	Texts         [Properties]Text
	Headers       []Header
	Body          Text
}

// Declaration is what an operation declares: an exchange, a queue, and what binds them.
type Declaration struct {
	Exchange, Type string // empty: none
	Of             Declares
	Queue          Text // the server names one that is empty
	Key            Text // it binds the queue to the exchange
	Durable        bool
	AutoDelete     bool
	Arguments      []Argument // of the queue
}

// Declares says what of a declaration there is beside its exchange.
type Declares uint8

// The kinds of declarations.
const (
	DeclaresExchange Declares = iota // nothing
	DeclaresQueue                    // a queue
	DeclaresBound                    // a queue, and what binds it to the exchange
)

// verb is what an operation does.
type verb uint8

const (
	verbPublish verb = iota
	verbConfirm
	verbGet
	verbDeclare
)

// Operation is compiled before the clock runs. It refers to no connection and does not change.
type Operation struct {
	verb     verb
	message  Message
	queue    Text // of get
	auto     bool // of get: nothing acknowledges
	declares Declaration
	frames   []byte     // method and header of a message without values; nil: it has some
	body     []byte     // the same of its body
	texts    *[2]string // the queue and the key of others; nil: they have values
}

// Publication makes an operation of a message.
func Publication(m Message) *Operation {
	o := &Operation{message: m}
	if m.Confirm {
		o.verb = verbConfirm
	}
	if !m.Body.open() {
		o.body = m.Body.fill([]byte{}, nil)
	}
	texts := append([]Text{m.Exchange, m.Key, m.Body}, m.Texts[:]...)
	for _, h := range m.Headers {
		texts = append(texts, h.Value)
	}
	if !slices.ContainsFunc(texts, Text.open) {
		o.frames, _ = m.appendFrames(nil, nil, len(o.body)) // the texts are checked
	}
	return o
}

// Get makes an operation that fetches a message of a queue.
func Get(queue Text, auto bool) *Operation {
	return (&Operation{verb: verbGet, queue: queue, auto: auto}).fixed()
}

// Declare makes an operation of a declaration.
func Declare(d Declaration) *Operation {
	return (&Operation{verb: verbDeclare, declares: d}).fixed()
}

// fixed makes the texts of an operation without values.
func (o *Operation) fixed() *Operation {
	if !o.queueText().open() && !o.declares.Key.open() {
		var m filled
		_ = o.fillQueue(&m, nil) // the texts are checked
		o.texts = &m.texts
	}
	return o
}

// publishes reports whether it sends a message.
func (o *Operation) publishes() bool { return o.verb <= verbConfirm }

// Confirms reports whether a message of it needs more than the kernel's word.
func (o *Operation) Confirms() bool { return o.verb != verbPublish }

// appendShortText appends a text with its values as a short one.
func appendShortText(dst []byte, t Text, values [][]byte, what string) ([]byte, *http1.Error) {
	at := len(dst)
	dst = t.fill(append(dst, 0), values)
	size := len(dst) - at - 1
	if size > shortMost {
		return dst[:at], &http1.Error{Kind: http1.KindValue, Detail: what + " has " + strconv.Itoa(size) + " bytes with its values, and AMQP takes 255: shorten it"}
	}
	dst[at] = byte(size)
	return dst, nil
}

// appendFrames appends the method and the header of a message with so many bytes.
func (m *Message) appendFrames(dst []byte, values [][]byte, size int) ([]byte, *http1.Error) {
	start := len(dst)
	dst = beginFrame(dst, frameMethod, true)
	at := len(dst)
	dst = binary.BigEndian.AppendUint32(dst, uint32(basicPublish))
	dst = append(dst, 0, 0)
	dst, err := appendShortText(dst, m.Exchange, values, "exchange")
	if err == nil {
		dst, err = appendShortText(dst, m.Key, values, "key")
	}
	if err != nil {
		return dst[:start], err
	}
	mandatory := byte(0)
	if m.Mandatory {
		mandatory = 1
	}
	dst = endFrame(append(dst, mandatory), at)
	dst = beginFrame(dst, frameHeader, true)
	at = len(dst)
	dst = append(dst, 0, classBasic, 0, 0)
	dst = binary.BigEndian.AppendUint64(dst, uint64(size))
	if dst, err = m.appendProperties(dst, values); err != nil {
		return dst[:start], err
	}
	return endFrame(dst, at), nil
}

// appendProperties appends the flags and the properties of a message.
func (m *Message) appendProperties(dst []byte, values [][]byte) ([]byte, *http1.Error) {
	at, flags := len(dst), uint16(0)
	dst = append(dst, 0, 0)
	var err *http1.Error
	for i, p := range properties {
		before := len(dst)
		switch {
		case p.text < Properties && m.Texts[p.text] != nil:
			if dst, err = appendShortText(dst, m.Texts[p.text], values, p.name); err != nil {
				return dst, err
			}
		case p.name == "headers" && len(m.Headers) > 0:
			dst = m.appendHeaders(dst, values)
		case p.name == "delivery-mode" && m.Persistent:
			dst = append(dst, 2)
		case p.name == "priority" && m.Priority != PriorityNone:
			dst = append(dst, byte(m.Priority))
		}
		if len(dst) > before {
			flags |= 1 << (15 - i)
		}
	}
	binary.BigEndian.PutUint16(dst[at:], flags)
	return dst, nil
}

// appendHeaders appends the table of a message's headers.
func (m *Message) appendHeaders(dst []byte, values [][]byte) []byte {
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	for _, h := range m.Headers {
		dst = append(appendShort(dst, h.Name), 'S', 0, 0, 0, 0)
		from := len(dst)
		dst = h.Value.fill(dst, values)
		binary.BigEndian.PutUint32(dst[from-4:], uint32(len(dst)-from))
	}
	binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst
}

// filled is what of an operation goes out, in memory that the next one takes. The key of a queue or of a
// binding stands in texts.
type filled struct {
	frames, body []byte
	texts        [2]string
}

// fill puts the values in place, and refuses those that do not fit.
func (o *Operation) fill(m *filled, values [][]byte) (err *http1.Error) {
	switch {
	case o.texts != nil:
		m.texts = *o.texts
		return nil
	case !o.publishes():
		return o.fillQueue(m, values)
	}
	if m.body = append(m.body[:0], o.body...); o.body == nil {
		m.body = o.message.Body.fill(m.body, values)
	}
	if m.frames = append(m.frames[:0], o.frames...); o.frames == nil {
		m.frames, err = o.message.appendFrames(m.frames, values, len(m.body))
	}
	return err
}

func (o *Operation) fillQueue(m *filled, values [][]byte) *http1.Error {
	for i, t := range [...]Text{o.queueText(), o.declares.Key} {
		text, err := appendShortText(nil, t, values, [...]string{"queue", "key"}[i])
		if err != nil {
			return err
		}
		m.texts[i] = string(text[1:])
	}
	return nil
}

func (o *Operation) queueText() Text {
	if o.verb == verbGet {
		return o.queue
	}
	return o.declares.Queue
}
