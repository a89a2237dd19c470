package nats

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/redact"
)

// lost are operations that were given up, the newest over the oldest.
type lost struct {
	all [lateMost]struct {
		number uint64
		count  *uint64
	}
	next int
}

// late returns what counts an answer with a number: by itself that of the last operation.
func (l *lost) late(number uint64, last *uint64) *uint64 {
	for i := range l.all {
		if one := &l.all[i]; one.count != nil && one.number == number {
			return one.count
		}
	}
	return last
}

// giveUp forgets an open operation: its answer, if it comes, is counted.
func (c *Conn) giveUp(a *asked) {
	a.open = false
	c.ops.open--
	if a.of.Verb == Flush {
		c.pings.flushed(a.number, pingLate)
	}
	switch s := &c.ops; {
	case s.many != nil:
		p := &s.many[a.number&placeMask]
		p.gone, p.count = a.number, a.late
	case a.of.Verb != Flush:
		l := &s.lost
		l.all[l.next].number, l.all[l.next].count = a.number, a.late
		l.next = (l.next + 1) % lateMost
	}
}

// ends ends an open operation with what is in the outcome.
func (c *Conn) ends(a *asked, payload []byte, on codec.Listener) {
	a.open = false
	c.ops.open--
	c.ops.answer.id = uint32(a.number & placeMask)
	on.Message(codec.MessageText, payload)
	c.outcome = Outcome{}
}

// onMessage takes a whole message.
func (c *Conn) onMessage(m *header, payload []byte, on codec.Listener) *http1.Error {
	head, body := payload[:m.head], payload[m.head:]
	if c.subscribes {
		return c.received(m, head, body, on)
	}
	if !c.listens || m.sid != "1" || !bytes.HasPrefix(m.subject, []byte(c.inbox)) {
		return errWanted
	}
	number, _ := cutNumber(m.subject, c.inbox)
	a := c.ops.find(number)
	if a == nil || a.of.Verb < Stream {
		tally(c.ops.late(number))
		return nil
	}
	return c.answered(a, m, head, body, on)
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

// answered takes the answer of an open operation.
func (c *Conn) answered(a *asked, m *header, head, body []byte, on codec.Listener) *http1.Error {
	c.outcome.Reply = m.reply
	if len(head) > 0 {
		status, text, fields, err := readHead(head)
		switch {
		case err != nil:
			return err
		case status == statusNone && len(body) == 0:
			c.outcome.Err = &http1.Error{Kind: kindNone, Detail: a.unanswered()}
		case status >= 300:
			c.outcome.Err = &http1.Error{Kind: http1.Kind("server " + strconv.Itoa(status)), Detail: strings.TrimSuffix("the answer has the status "+strconv.Itoa(status)+": "+text, ": ")}
		}
		if a.keeps {
			c.outcome.Fields = fields
		}
	}
	if a.of.Verb == Stream && c.outcome.Err == nil {
		if err := c.acknowledged(body); err != nil {
			return err
		}
	}
	c.ends(a, body, on)
	return nil
}

// statusNone says that nothing subscribes to a subject.
const (
	statusNone = 503
	kindNone   = http1.Kind("server 503")
)

func (a *asked) unanswered() string {
	if a.of.Verb == Stream {
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
	if len(c.pings.left()) == 0 {
		return errPong
	}
	p := c.pings.pop()
	switch p.kind {
	case pingAsks:
		on.Pong(p.payload)
	case pingFlushes:
		c.in.idle = 0
		if a := c.ops.find(p.payload); a != nil && a.of.Verb == Flush {
			c.ends(a, nil, on)
		}
	case pingEnded:
		c.in.idle = 0
	case pingLate:
		c.in.idle = 0 // each answers one of ours
		tally(c.ops.late(p.payload))
	case pingLeaves:
		c.end = endAgree
		on.Leaves(leftCode, "")
	}
	return nil
}

// leftCode is the code of an orderly goodbye, as WebSocket has it.
const leftCode = 1000

// onError takes an error of the server: it is that of an open operation if that has caused it.
func (c *Conn) onError(text string, on codec.Listener) *http1.Error {
	err := serverError(text)
	if c.subscribes || !survives(text) {
		if c.told = err; c.subscribes {
			return err
		}
		if c.ops.open == 0 {
			tally(c.ops.now().errors)
		}
		c.ops.all(func(a *asked) { c.fails(a, err, on) })
		return nil
	}
	subject, tells := about(text)
	if tells && strings.HasPrefix(subject, c.inbox) {
		c.listens = false // the next one asks again, and fails alike
		none := true
		c.ops.all(func(a *asked) {
			if a.of.Verb >= Stream {
				c.fails(a, err, on)
				none = false
			}
		})
		if none {
			tally(c.ops.now().errors)
		}
		return nil
	}
	caused := func(a *asked) bool { return !tells || a.about(c.message.subject) == subject }
	if a := c.ops.oldest(caused); a != nil {
		c.in.idle = 0 // it answers one of ours
		c.fails(a, err, on)
		return nil
	}
	if c.ops.excuses() {
		c.in.idle = 0
	}
	tally(c.ops.faulty(subject))
	return nil
}

// fails ends an open operation with an error of the server.
func (c *Conn) fails(a *asked, err *http1.Error, on codec.Listener) {
	c.outcome.Err = err
	c.pings.flushed(a.number, pingEnded)
	c.ends(a, nil, on)
}

// tally counts what no open operation waits for.
func tally(count *uint64) {
	if count != nil {
		*count++
	}
}
