package engine

import (
	"fmt"

	"hyperscale/core/workflow/request"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/engine/rpc"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/sse"
)

// stream reads the events of an answer while it comes. It measures what the loop has read: the
// time of an event is that of the read which brought its blank line.
type stream struct {
	q      *requests
	n      *pool.RequestSlot
	x      *exchange
	of     *request.Stream
	parser sse.Parser
	due    int64 // the intended start
	last   int64 // when the event before was read
	began  int64 // when its head was judged
	count  int   // events
	state  streamState
	err    error // why it is read no further
}

type streamState uint8

const (
	streamWaits   streamState = iota // for the head of an answer, or its body
	streamReads                      // its answer is a stream
	streamForeign                    // its answer is none
	streamEnough                     // it was read as far as its request asked for
)

var (
	_ http1.Tap    = (*stream)(nil)
	_ sse.Listener = (*stream)(nil)
)

// stream arranges that a slot's answer is read as a stream, if its request asks for that.
func (q *requests) stream(n *pool.RequestSlot, x *exchange, due int64) {
	if n.Tap = nil; x == nil || x.request.Stream == nil {
		return
	}
	s := new(stream)
	if last := len(q.streams) - 1; last >= 0 {
		s, q.streams = q.streams[last], q.streams[:last]
	}
	s.parser.Reset()
	*s = stream{q: q, n: n, x: x, of: x.request.Stream, parser: s.parser, due: due}
	s.parser.Keep = s.of.Until != nil || q.debug != nil || x.session != nil
	x.stream, n.Tap = s, s
}

// unstream takes back the memory of a stream.
func (q *requests) unstream(n *pool.RequestSlot, x *exchange) {
	if x.stream != nil {
		x.stream.n, x.stream.x = nil, nil
		q.streams = append(q.streams, x.stream)
		x.stream, n.Tap = nil, nil
	}
}

// again prepares for another answer to the same request: behind a redirect or a challenge.
func (s *stream) again() {
	s.parser.Reset()
	s.state, s.err = streamWaits, nil
}

// status returns that of the answer; 0: its head is not whole.
func (s *stream) status() int {
	switch {
	case s.n.Framed != nil:
		return int(s.n.Status)
	case s.n.Parser.HeadDone():
		return s.n.Parser.Status()
	}
	return 0
}

// Piece implements http1.Tap.
func (s *stream) Piece(b []byte) {
	if s.state == streamWaits {
		s.begin()
	}
	if s.state != streamReads || s.err != nil || len(b) == 0 {
		return
	}
	s.q.Clock.Tick()
	enough, err := s.parser.Feed(b, s)
	switch s.err = err; {
	case enough && s.x.session != nil:
		s.err = errOverflow
	case enough:
		s.state = streamEnough
	}
}

// begin judges the head of an answer whose body comes.
func (s *stream) begin() {
	status := s.status()
	if s.state = streamForeign; status < 200 || status >= 300 {
		return
	}
	if why := sse.Foreign(s.x.collector); why != nil {
		s.err = why
		return
	}
	s.state, s.began = streamReads, s.q.Clock.Now
	if s.x.session != nil {
		s.x.session.Opened()
	}
}

// errOverflow: other requests use the connection, so that it must be read.
var errOverflow = &http1.Error{Kind: http1.KindOverflow, Detail: "256 events or 1 MiB are not received, and other requests share the connection: receive them in time, or write version = \"1.1\" in http.client"}

// Full implements pool.Reader: a session's functions have not received what came.
func (s *stream) Full() bool { return s.x.session != nil && s.x.session.inbox.Full() }

// Event implements sse.Listener.
func (s *stream) Event(e *sse.Event) bool {
	now := s.q.Clock.Now
	if s.count++; s.count == 1 {
		s.n.Account.Events().First(now - s.due)
	} else {
		s.n.Account.Events().Next(now - s.last)
	}
	s.last = now
	s.q.debug.event(s.count, e)
	if of := s.x.session; of != nil {
		if of.inbox.Full() && s.q.Wire.Shared(of.seat.index) {
			return true
		}
		of.event(e, now-s.began)
		return false
	}
	return s.count == s.of.Events || s.of.Until != nil && s.of.Until.Holds(e.Data)
}

// Look implements http1.Tap. What cannot be read on is enough: the answer failed.
func (s *stream) Look() bool {
	if s.x.session != nil && s.state == streamWaits && s.status() != 0 {
		s.begin()
	}
	return s.state == streamEnough || s.err != nil
}

// over reports whether a stream that is read for a time has had it. One without a head has timed
// out.
func (s *stream) over() bool {
	if s.of.Within == 0 || s.state == streamForeign || s.err != nil {
		return false
	}
	if s.state == streamWaits {
		if s.status() == 0 {
			return false
		}
		if s.begin(); s.state != streamReads || s.err != nil {
			return false
		}
	}
	s.state = streamEnough
	return true
}

// wrong says why a whole answer is not the stream that its request asked for; empty: it is.
func (s *stream) wrong(status int, head *http1.Head) (http1.Kind, string) {
	switch {
	case status >= 400 || s.state == streamEnough:
		return http1.KindNone, ""
	case s.err != nil:
		return kindAndDetail(s.err)
	case status != 200 && s.state != streamReads:
		return http1.KindProtocol, fmt.Sprintf("status %d brings no events", status)
	case s.state == streamWaits: // it ended without a byte
		c := http1.Collector{}
		for i := range head.Len() {
			c.AddField(head.At(i))
		}
		if err := sse.Foreign(&c); err != nil {
			return kindAndDetail(err)
		}
	}
	switch {
	case s.of.Events > 0 && s.of.Until != nil:
		return http1.KindExpect, fmt.Sprintf("the stream ended after %d events, before the one of until and before %d", s.count, s.of.Events)
	case s.of.Events > 0:
		return http1.KindExpect, fmt.Sprintf("the stream ended after %d of %d events", s.count, s.of.Events)
	case s.of.Until != nil:
		return http1.KindExpect, fmt.Sprintf("the stream ended after %d events, before the one of until", s.count)
	case s.of.Within > 0:
		return http1.KindExpect, fmt.Sprintf("the stream ended after %d events, before the %v of within", s.count, s.of.Within)
	}
	return http1.KindNone, ""
}

func kindAndDetail(err error) (http1.Kind, string) {
	kind := http1.KindOf(err)
	if known, ok := err.(*http1.Error); ok {
		return kind, known.Detail
	}
	return kind, err.Error()
}

// amiss says why the whole answer of an exchange is not the stream that it asked for, or which error
// the server told in its messages; empty: neither.
func (x *exchange) amiss() (http1.Kind, string) {
	if x.talk != nil && x.kind == http1.KindNone {
		if x.codes && x.talk.Code() != "" {
			return http1.KindNone, "" // expect judges it
		}
		return x.talk.Wrong()
	}
	if x.rpc != nil && x.kind == http1.KindNone {
		return x.misses()
	}
	if x.stream == nil || x.kind != http1.KindNone {
		return http1.KindNone, ""
	}
	head := &http1.Head{}
	if x.answer != nil {
		head = &x.answer.head
	}
	return x.stream.wrong(int(x.status), head)
}

// calls reads the answers to calls of gRPC.
type calls struct{ idle []*rpc.Reading }

// begin arranges that a slot's answer is read as one of gRPC. Codes says that the step decides which
// code is good.
func (c *calls) begin(q *requests, n *pool.RequestSlot, x *exchange, codes bool) {
	r := new(rpc.Reading)
	if last := len(c.idle) - 1; last >= 0 {
		r, c.idle = c.idle[last], c.idle[:last]
	}
	r.Begin(x.request, n, &q.Clock, q.Slots.Common.BodyMax, n.Due)
	r.Codes = codes
	x.rpc, n.Tap = r, r
}

// end takes back the memory of a call.
func (c *calls) end(n *pool.RequestSlot, x *exchange) {
	if x.rpc != nil {
		x.rpc.Over()
		c.idle = append(c.idle, x.rpc)
		x.rpc, n.Tap = nil, nil
	}
}

// called judges the whole answer to a call. Its status is gRPC's, which counts by its name.
func (x *exchange) called(n *pool.RequestSlot) {
	if x.rpc == nil {
		return
	}
	x.rpc.End(int(n.Status), x.collector, n.Size)
	if x.times.Talked = true; x.rpc.Told {
		x.status = statusTold
	}
}

// statusTold is the status of a failure that a server told.
const statusTold = 500

// misses says why a call failed; empty: it did not, or its step decides which code is good.
func (x *exchange) misses() (http1.Kind, string) {
	if x.rpc.Told && x.rpc.Codes {
		return http1.KindNone, ""
	}
	return x.rpc.Kind, x.rpc.Why
}

// code is the status of a call by its name, or the code of a database's answer; empty: it is neither.
func (x *exchange) code() string {
	if x.rpc == nil {
		return x.told
	}
	return x.rpc.Code
}
