package rpc

import (
	"bytes"
	"fmt"
	"time"

	"hyperscale/core/load/queue"
	"hyperscale/core/workflow/session"
	"hyperscale/runtime/protocol/http1"
)

// Session is a call whose function sends and receives one message at a time. A message answers the
// oldest one sent that has no answer, and is timed by the read that brought it.
type Session struct {
	reading *Reading
	head    *http1.Collector // of the answer; nil: it has not begun
	says    messages
	limit   int64 // of a message, in bytes
	asked   queue.Queue[int64]
	sent    int // messages
	opened  int64
	closed  bool // nothing more is sent
	full    func() bool
	put     func(m session.Message)
}

// askedMost bounds the messages whose answers are timed.
const askedMost = 1024

// messageMost bounds a message in JSON, in bytes.
const messageMost = 4 << 20

// Open makes a reading that of a session. Full reports that its functions have not received what came,
// and put takes what comes.
func (c *Reading) Open(full func() bool, put func(session.Message)) *Session {
	limit := c.reader.Most
	c.reader.Keeps, c.session = true, &Session{reading: c, says: messages{compress: c.of.Compress}, limit: limit, opened: c.clock.Now, full: full, put: put}
	return c.session
}

// Encode returns a message as it goes on the wire, until the next one is encoded.
func (s *Session) Encode(text []byte) ([]byte, error) {
	if len(text) > messageMost {
		return nil, fmt.Errorf("the message has more than %d MiB", messageMost>>20)
	}
	t, err := s.reading.of.Method.Compile(text, nil)
	if err != nil {
		return nil, err
	}
	s.says.all = append(s.says.all[:0], t)
	return s.says.append(nil, nil)
}

// Last reports whether a method takes no message behind so many.
func (s *Session) Last() bool { return s.sent == 1 && !s.reading.of.Method.ClientStreams }

// Said notes that a message is queued.
func (s *Session) Said() {
	s.sent++
	if s.asked.Len() < askedMost {
		s.asked.Push(s.reading.clock.Tick())
	}
}

// Close notes that nothing more is sent, and reports whether that is new.
func (s *Session) Close() bool {
	was := s.closed
	s.closed = true
	return !was
}

// Closed reports that nothing more is sent.
func (s *Session) Closed() bool { return s.closed }

// Shift moves the instants to a clock that began so much later.
func (s *Session) Shift(by int64) {
	s.opened, s.reading.due = s.opened-by, s.reading.due-by
	for range s.asked.Len() {
		s.asked.Push(s.asked.Pop() - by)
	}
}

var errOverflow = &http1.Error{Kind: http1.KindOverflow, Detail: "256 messages or 1 MiB are not received, and other calls share the connection: receive them in time"}

// piece takes bytes of the answer, and gives each message to the function.
func (s *Session) piece(b []byte) {
	c := s.reading
	for len(b) > 0 && c.stop == nil && !c.reader.Broken() {
		n, whole := c.reader.Next(b)
		if b = b[n:]; whole {
			s.came()
		}
	}
}

// came takes a message that is whole.
func (s *Session) came() {
	c := s.reading
	now, m := c.clock.Now, c.slot.Account.Messages()
	if c.reader.Count == 1 {
		m.First(now - c.due)
	}
	since := s.opened
	if s.asked.Len() > 0 {
		since = s.asked.Pop()
		m.Received(now - since)
	} else {
		m.Pushed()
	}
	if s.full() {
		c.stop = errOverflow
		return
	}
	d := Decoder{Of: c.of, Head: &http1.Head{}, Limit: s.limit}
	if s.head != nil {
		d.Head = s.head
	}
	text, err := d.message(c.reader.Compressed, c.reader.Last, s.limit)
	if err != nil {
		c.stop = err
		return
	}
	s.put(session.Message{Data: bytes.Clone(text), Latency: time.Duration(now - since)})
}

// Begins takes the collector of the answer, whose head says how its messages are compressed.
func (c *Reading) Begins(head *http1.Collector) {
	if c.session != nil {
		c.session.head = head
	}
}
