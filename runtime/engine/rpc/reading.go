package rpc

import (
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/protocol/grpc"
	"hyperscale/runtime/protocol/http1"
)

// Reading reads the answer to a call while it comes.
type Reading struct {
	of     *request.GRPC
	sends  int // messages
	slot   *pool.RequestSlot
	clock  *measure.Clock
	reader grpc.Reader
	due    int64 // the intended start
	Codes  bool  // the step decides which code is good

	session *Session     // that drives it; nil: nothing does
	stop    *http1.Error // why it is read no further
	Verdict
}

// Verdict is how a call ended.
type Verdict struct {
	Code string     // its status; empty: it has none
	Told bool       // the server told that it failed
	Kind http1.Kind // why it failed; empty: it did not
	Why  string
}

var _ http1.Tap = (*Reading)(nil)

// Begin prepares for the answer to a call of a slot. Most bounds a message, in bytes; 0: the
// default.
func (c *Reading) Begin(r *request.Request, slot *pool.RequestSlot, clock *measure.Clock, most, due int64) {
	*c = Reading{of: r.GRPC, slot: slot, clock: clock, reader: c.reader, due: due}
	c.reader.Begin(most, false)
	if c.streams() {
		c.sends = count(r.Body)
	}
}

// Again prepares for another answer to the same call.
func (c *Reading) Again() {
	c.reader.Begin(c.reader.Most, c.session != nil)
	c.Verdict = Verdict{}
}

// Over counts what the call sent, and keeps nothing alive.
func (c *Reading) Over() {
	if c.sends > 0 && c.slot.Written != 0 {
		*c.slot.Account.Messages().Sent() += uint64(c.sends)
	}
	c.slot, c.of, c.session, c.stop = nil, nil, nil, nil
}

// streams reports whether messages count beside calls.
func (c *Reading) streams() bool { return c.of.Method.ClientStreams || c.of.Method.ServerStreams }

// Piece implements http1.Tap.
func (c *Reading) Piece(b []byte) {
	if c.session != nil {
		c.session.piece(b)
		return
	}
	before := c.reader.Count
	ended, _ := c.reader.Feed(b) // Look says what is wrong
	if ended == 0 || !c.streams() {
		return
	}
	now, m := c.clock.Now, c.slot.Account.Messages()
	if before == 0 {
		m.First(now - c.due)
	}
	for range ended {
		m.Received(now - c.slot.Wrote)
	}
}

// Look implements http1.Tap: what cannot be read on is enough.
func (c *Reading) Look() bool { return c.stop != nil || c.reader.Broken() }

// End judges an answer that is whole, or that was enough.
func (c *Reading) End(status int, head *http1.Collector, size int64) Verdict {
	a := grpc.Answer{Status: status, Reader: &c.reader, One: !c.of.Method.ServerStreams}
	if head == nil {
		head = &http1.Collector{}
	}
	a.Fields, a.Trailers = head, head.HeadFields()
	a.Only = a.Trailers == head.Len() && size == 0
	code, text, err := a.Verdict()
	switch {
	case c.stop != nil:
		c.Verdict = Verdict{Kind: c.stop.Kind, Why: c.stop.Detail}
	case err != nil:
		c.Verdict = Verdict{Kind: http1.KindOf(err), Why: detail(err)}
	case code != grpc.OK:
		c.Verdict = Verdict{Code: code.String(), Told: true, Kind: http1.Kind("server " + code.String()), Why: "the server answered " + code.String()}
		if text != "" {
			c.Why += ": " + text
		}
	default:
		c.Verdict = Verdict{Code: code.String()}
	}
	return c.Verdict
}

func detail(err error) string {
	if known, ok := err.(*http1.Error); ok {
		return known.Detail
	}
	return err.Error()
}
