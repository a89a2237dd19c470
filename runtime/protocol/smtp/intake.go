package smtp

import (
	"encoding/json"
	"strconv"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/reply"
)

const (
	codeQuit    = 221
	codeAccepts = 250
	codeBegin   = 354
	codeCloses  = 421
)

// Feed takes what the server sent.
func (c *Conn) Feed(b []byte, on codec.Listener) error {
	for len(b) > 0 && c.broken == nil {
		one, used, err := c.in.Next(b)
		if b = b[used:]; err != nil {
			c.broken = err
		} else if one.Code != 0 {
			c.broken = c.take(&one, on)
		}
	}
	if c.broken != nil {
		c.withhold()
	}
	return c.broken
}

// withhold drops what is not written: the message is not sent.
func (c *Conn) withhold() {
	if len(c.out.left()) > 0 {
		c.op.state &^= progressGoes
	}
	c.out.drop(c.protocol.config.Pool)
}

// take takes a reply.
func (c *Conn) take(r *reply.Reply, on codec.Listener) error {
	switch {
	case c.end >= endLeft:
		if r.Code == codeQuit || r.Code == codeCloses {
			c.end = endAgree
		}
		return nil
	case r.Code == codeCloses && c.op.of != nil:
		c.end = endTold
		c.op.err = nil
		c.withhold()
		c.fail(r)
		c.finish(r, on)
		return nil
	case r.Code == codeCloses:
		c.end = endTold
		return nil
	case c.pinged:
		c.pinged = false
		on.Pong(c.payload)
		return nil
	case c.op.of == nil || !c.waits():
		return reply.ErrUnasked
	}
	return c.answer(r, on)
}

// waits reports whether a command that is written has no answer.
func (c *Conn) waits() bool {
	a := &c.op
	switch {
	case a.is(progressEnds):
		return true
	case a.is(progressResets):
		return len(c.out.left()) == 0 || c.out.sent >= len("RSET\r\n")
	case a.answered == a.queued:
		return false
	}
	unsent := len(c.out.left())
	return a.ends[a.answered] <= a.ends[a.queued-1]-unsent
}

// asks is the command that the next reply answers.
func (c *Conn) asks() string {
	a := &c.op
	switch {
	case a.is(progressResets):
		return "RSET"
	case a.is(progressEnds):
		return "end of DATA"
	case a.answered == 0:
		return "MAIL FROM"
	case a.answered <= a.of.Recipients():
		return "RCPT TO"
	}
	return "DATA"
}

// answer takes the answer to the oldest command without one.
func (c *Conn) answer(r *reply.Reply, on codec.Listener) error {
	a := &c.op
	at := a.answered - 1 // of recipients
	begins := a.answered == len(a.ends)-1 && !a.is(progressResets|progressEnds)
	if r.Code/100 == 1 || r.Code/100 == 3 && (!begins || r.Code != codeBegin) || begins && r.Positive() {
		return r.Unexpected(c.asks())
	}
	switch {
	case a.is(progressResets):
		return c.reset(r, on)
	case a.is(progressEnds):
		switch early := len(c.out.left()) > 0; {
		case early && r.Positive():
			return reply.ErrUnasked // it accepts what it has not got
		case early:
			c.withhold()
			c.end = endSpent
			fallthrough
		case !r.Positive():
			c.fail(r)
		}
		c.stained = false
		c.finish(r, on)
		return nil
	case a.answered == 0:
		if r.Positive() {
			a.state |= progressMailed
			c.stained = true
		} else {
			c.fail(r)
		}
	case !begins:
		c.recipient(r, at)
	case r.Code == codeBegin:
		c.begins()
		return nil
	default:
		c.fail(r)
		c.finish(r, on)
		return nil
	}
	a.answered++
	if c.pipelines || a.answered < a.queued {
		return nil
	}
	if !a.is(progressMailed) || a.answered == len(a.ends)-1 && a.accepted == 0 {
		c.finish(r, on)
		return nil
	}
	c.proceed()
	return nil
}

// reset takes the answer to RSET.
func (c *Conn) reset(r *reply.Reply, on codec.Listener) error {
	if !r.Positive() {
		c.fail(r)
		c.op.state &^= progressResets
		c.end = endSpent // a transaction stands open that cannot be ended
		c.finish(r, on)
		return nil
	}
	c.op.state &^= progressResets
	if c.stained = false; c.op.queued == 0 {
		c.proceed()
	}
	return nil
}

// recipient takes the answer to a recipient. Behind a refused sender it means nothing.
func (c *Conn) recipient(r *reply.Reply, at int) {
	a := &c.op
	switch {
	case !a.is(progressMailed):
	case r.Positive():
		a.accepted++
		a.err = nil // of recipients before the first one that the server takes
	default:
		if a.refused++; a.accepted == 0 {
			c.fail(r)
		}
		if a.with.Keeps {
			a.refusals = appendRefusal(a.refusals, a.of.recipient(at, a.with.Values), r)
		}
	}
}

func appendRefusal(dst []byte, to string, r *reply.Reply) []byte {
	text, _ := json.Marshal(struct { // numbers and texts have a form
		Recipient string `json:"recipient"`
		Code      int    `json:"code"`
		Text      string `json:"text"`
	}{to, r.Code, r.Shown()})
	if dst = append(dst, ','); len(dst) == 1 {
		dst = dst[:0]
	}
	return append(dst, text...)
}

// begins sends the message, or the end of none if there is no recipient to have it.
func (c *Conn) begins() {
	a := &c.op
	a.state |= progressEnds
	a.answered++
	if a.accepted == 0 {
		c.out.bytes = append(c.out.own(c.protocol.config.Pool), ".\r\n"...)
		return
	}
	c.out.drop(c.protocol.config.Pool)
	c.out.text, a.message = a.message, text{}
	a.state |= progressGoes
}

// fail notes what the server refuses: the first refusal is the operation's.
func (c *Conn) fail(r *reply.Reply) {
	if a := &c.op; a.err == nil {
		a.err, a.code = r.Refused(c.asks()), r.Code
		if a.text = ""; a.with.Keeps {
			a.text = r.Shown()
		}
	}
}

// finish ends the operation.
func (c *Conn) finish(r *reply.Reply, on codec.Listener) {
	a := &c.op
	c.outcome = Outcome{Code: r.Code, Accepted: uint64(a.accepted), Refused: uint64(a.refused)}
	if a.err != nil {
		c.outcome.Err, c.outcome.Code = a.err, a.code
	}
	if a.with.Keeps {
		if a.err == nil {
			a.text = r.Shown()
		}
		c.outcome.Body = appendAnswer(nil, c.outcome.Code, a)
	}
	body := c.outcome.Body
	c.clear()
	if c.handed++; c.handed == c.protocol.config.Each && c.end == endNone {
		c.end = endSpent
	}
	on.Message(codec.MessageText, body)
	c.outcome.Body = nil
}

// appendAnswer appends the answer to an operation as JSON.
func appendAnswer(dst []byte, code int, a *asked) []byte {
	text, _ := json.Marshal(a.text) // a text has a form
	dst = strconv.AppendInt(append(dst, `{"code":`...), int64(code), 10)
	dst = append(append(dst, `,"text":`...), text...)
	dst = strconv.AppendInt(append(dst, `,"accepted":`...), int64(a.accepted), 10)
	dst = append(append(dst, `,"refused":[`...), a.refusals...)
	return append(dst, "]}"...)
}
