package nats

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/redact"
)

// asked is the operation that was queued last.
type asked struct {
	of     *Operation
	number uint64 // in the subject of its reply
	open   bool   // it waits for what ends it
	keeps  bool
	late   *uint64
	errors *uint64
}

// lost are operations that were given up, the newest over the oldest.
type lost struct {
	all [lateMost]struct {
		number uint64
		count  *uint64
	}
	next int
}

// giveUp forgets the open operation: its answer, if it comes, is counted.
func (c *Conn) giveUp() {
	c.op.open = false
	if c.op.of.Verb == Flush {
		flushed(c.pings, pingLate)
		return
	}
	l := &c.lost
	l.all[l.next].number, l.all[l.next].count = c.op.number, c.op.late
	l.next = (l.next + 1) % lateMost
}

// flushed says what the PONG of the open operation is, which ends without it: it must not end the next one.
func flushed(pings []pinged, as pingKind) {
	for i := range pings {
		if pings[i].kind == pingFlushes {
			pings[i].kind = as
		}
	}
}

// late counts an answer that no open operation waits for: of one that was given up, or a second one.
func (c *Conn) late(number uint64) {
	count := c.op.late
	for i := range c.lost.all {
		if l := &c.lost.all[i]; l.count != nil && l.number == number {
			count = l.count
		}
	}
	if count != nil {
		*count++
	}
}

// ends ends the open operation with what is in the outcome.
func (c *Conn) ends(payload []byte, on codec.Listener) {
	c.op.open = false
	on.Message(codec.MessageText, payload)
	c.outcome = Outcome{}
}

// onMessage takes a whole message.
func (c *Conn) onMessage(m *header, payload []byte, on codec.Listener) *http1.Error {
	head, body := payload[:m.head], payload[m.head:]
	if c.subscribes {
		return c.received(m, head, body, on)
	}
	word, ours := bytes.CutPrefix(m.subject, []byte(c.inbox))
	if !c.listens || m.sid != "1" || !ours {
		return errWanted
	}
	number, is := number(word)
	if !is || !c.op.open || c.op.of.Verb < Stream || uint64(number) != c.op.number {
		c.late(uint64(number))
		return nil
	}
	return c.answered(m, head, body, on)
}

// received takes a message of the subscription.
func (c *Conn) received(m *header, head, body []byte, on codec.Listener) *http1.Error {
	if m.sid != "1" {
		return errWanted
	}
	if c.pull != nil {
		return c.pulled(m, head, body, on)
	}
	c.outcome = Outcome{Subject: m.subject, Reply: m.reply}
	if len(head) > 0 {
		_, _, fields, err := readHead(head)
		if err != nil {
			return err
		}
		c.outcome.Fields = fields
	}
	on.Message(codec.MessageText, body)
	c.outcome = Outcome{}
	return nil
}

// answered takes the answer of the open operation.
func (c *Conn) answered(m *header, head, body []byte, on codec.Listener) *http1.Error {
	c.outcome.Reply = m.reply
	if len(head) > 0 {
		status, text, fields, err := readHead(head)
		switch {
		case err != nil:
			return err
		case status == statusNone && len(body) == 0:
			c.outcome.Err = &http1.Error{Kind: kindNone, Detail: c.unanswered()}
		case status >= 300:
			c.outcome.Err = &http1.Error{Kind: http1.Kind("server " + strconv.Itoa(status)), Detail: strings.TrimSuffix("the answer has the status "+strconv.Itoa(status)+": "+text, ": ")}
		}
		if c.op.keeps {
			c.outcome.Fields = fields
		}
	}
	if c.op.of.Verb == Stream && c.outcome.Err == nil {
		if err := c.acknowledged(body); err != nil {
			return err
		}
	}
	c.ends(body, on)
	return nil
}

// statusNone says that nothing subscribes to a subject.
const (
	statusNone = 503
	kindNone   = http1.Kind("server 503")
)

func (c *Conn) unanswered() string {
	if c.op.of.Verb == Stream {
		return "no stream has the subject: create one that does"
	}
	return "no responders: nothing subscribes to the subject"
}

// acknowledgement is JetStream's answer to a message.
type acknowledgement struct {
	Stream    string    `json:"stream"`
	Sequence  uint64    `json:"seq"`
	Duplicate bool      `json:"duplicate"`
	Error     *jetError `json:"error"`
}

// jetError is an error of JetStream.
type jetError struct {
	Code        int    `json:"code"`
	Number      int    `json:"err_code"`
	Description string `json:"description"`
}

func (e *jetError) explain() *http1.Error {
	number := e.Number
	if number == 0 {
		number = e.Code
	}
	return &http1.Error{Kind: http1.Kind("server " + strconv.Itoa(number)), Detail: "JetStream answered " + redact.Excerpt(e.Description, redact.TextMost)}
}

// acknowledged reads what acknowledges a message.
func (c *Conn) acknowledged(body []byte) *http1.Error {
	var a acknowledgement
	if json.Unmarshal(body, &a) != nil || a.Error == nil && (a.Stream == "" || a.Sequence == 0) {
		return errAck
	}
	if c.outcome.Duplicate = a.Duplicate; a.Error == nil {
		return nil
	}
	c.outcome.Err = a.Error.explain()
	return nil
}

// onPong takes the answer to the oldest PING.
func (c *Conn) onPong(on codec.Listener) *http1.Error {
	if len(c.pings) == 0 {
		return errPong
	}
	p := c.pings[0]
	if len(c.pings) == 1 {
		c.pings = c.pings[:0]
	} else {
		c.pings = slices.Delete(c.pings, 0, 1)
	}
	switch p.kind {
	case pingAsks:
		on.Pong(p.payload)
	case pingFlushes:
		if c.op.open && c.op.of.Verb == Flush {
			c.ends(nil, on)
		}
	case pingLate:
		c.late(0)
	case pingLeaves:
		c.end = endAgree
		on.Leaves(leftCode, "")
	}
	return nil
}

// leftCode is the code of an orderly goodbye, as WebSocket has it.
const leftCode = 1000

// onError takes an error of the server: it is the open operation's if that has caused it.
func (c *Conn) onError(text string, on codec.Listener) *http1.Error {
	err := serverError(text)
	goesOn := survives(text) && !c.subscribes
	if !goesOn {
		c.told = err
	}
	switch {
	case c.subscribes:
		return err
	case c.op.open && (!goesOn || c.caused(text)):
		c.outcome.Err = err
		flushed(c.pings, pingEnded)
		c.ends(nil, on)
	case c.op.errors != nil:
		*c.op.errors++
	}
	return nil
}

// caused reports whether an error behind which the connection goes on is about the open operation.
func (c *Conn) caused(text string) bool {
	_, rest, found := strings.Cut(text, "\"")
	subject, _, _ := strings.Cut(rest, "\"")
	if !found {
		return true
	}
	if strings.HasPrefix(subject, c.inbox) {
		c.listens = false // the next one asks again, and fails alike
		return c.op.of.Verb >= Stream
	}
	if !c.op.of.open {
		return subject == c.op.of.subject
	}
	return subject == string(c.message.subject)
}
