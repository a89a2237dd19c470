package kafka

import (
	"time"

	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/kafka/group"
	"hyperscale/runtime/protocol/kafka/wire"
)

// Attendant is a member of a group, as the connections to its coordinator meet it. What it says beside the
// operations of a connection goes out when none is under way.
type Attendant interface {
	Arrives()                      // a connection stands
	Tick(now int64) *group.Request // what is due at that instant; nil: nothing
	Departs() []group.Request      // a connection ends, and this is its goodbye: each connection asks once
	Answered(a group.Answer)       // to what Tick and Departs said
}

// beside is what a connection says beside its operations.
type beside struct {
	attends Attendant // nil: nothing
	parted  Attendant // that has said goodbye
	waits   []waiting // for answers, in order
}

// waiting is a request beside the operations that has no answer.
type waiting struct {
	number int32
	of     group.API
}

// tickEvery is how often an attendant is asked.
const tickEvery = int64(time.Second)

// Attend makes a greeting that of a member's connection to its coordinator.
func (g *Greeting) Attend(a Attendant) *Greeting {
	g.attends = a
	return g
}

// Ask queues a request of a group. First says that it counts as the operation's sending.
func (c *Conn) Ask(r group.Request, first bool) error {
	switch {
	case !c.mayTalk():
		return errOver
	case c.speaks.group[r.Of] < 0:
		return errVersion(api(r.Of))
	}
	c.learns = !first
	c.request(r)
	c.asks(api(r.Of), &Order{})
	return nil
}

func (c *Conn) request(r group.Request) {
	start := len(c.out.bytes)
	c.begins(api(r.Of), c.speaks.group[r.Of])
	c.out.bytes = append(c.out.bytes, r.Body...)
	putLength(c.out.bytes, start)
}

// told takes the answer to Ask.
func (c *Conn) told(r *wire.Reader, of group.API) {
	a, ok := group.Read(of, r.B)
	if r.Bad = !ok; r.Bad {
		return
	}
	c.outcome.Group, c.outcome.Throttled = a, a.Throttled
	c.outcome.Err, c.outcome.Moved = asError(a.Code, []byte(a.Text))
}

// says queues a request beside the operations.
func (c *Conn) says(r group.Request) {
	if c.speaks.group[r.Of] < 0 {
		return // an operation finds that out
	}
	c.request(r)
	c.waits = append(c.waits, waiting{c.number, r.Of})
}

// Tick implements codec.Lively.
func (c *Conn) Tick(now int64) (next int64, err error) {
	if c.attends == nil {
		return 0, nil
	}
	if c.mayTalk() && !c.asked.open && len(c.waits) == 0 {
		if r := c.attends.Tick(now); r != nil {
			c.says(*r)
		}
	}
	return now + tickEvery, nil
}

// departs says the goodbye of a member, once.
func (c *Conn) departs() {
	if c.attends == nil {
		return
	}
	all := c.attends.Departs()
	if c.broken == nil {
		for _, r := range all {
			c.says(r)
		}
	}
	c.attends, c.parted = nil, c.attends
}

// Lingers implements codec.Lingering.
func (c *Conn) Lingers() bool { return c.left && c.broken == nil && len(c.waits) > 0 }

// awaits returns the number of the next answer; 0: nothing is asked.
func (c *Conn) awaits() int32 {
	switch {
	case len(c.waits) > 0 && (!c.asked.open || c.waits[0].number < c.asked.number):
		return c.waits[0].number
	case c.asked.open:
		return c.asked.number
	}
	return 0
}

// besideAnswered takes an answer that no operation waits for.
func (c *Conn) besideAnswered(body []byte) *http1.Error {
	w := c.waits[0]
	c.waits = c.waits[1:]
	a, ok := group.Read(w.of, body)
	if !ok {
		return errShort(api(w.of))
	}
	if c.attends != nil {
		c.attends.Answered(a)
	} else if c.parted != nil {
		c.parted.Answered(a)
	}
	return nil
}
