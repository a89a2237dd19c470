package amqp

import (
	"slices"
	"strconv"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// asked is the operation that was queued last.
type asked struct {
	of     *Operation
	number uint64 // that of its message in the channel
	open   bool   // it waits for what ends it
	waits  bool   // nothing of it is queued: publishers are blocked
	reads  reads
	counts Counts
}

// channel is the one that a connection has.
type channel struct {
	state     channelState
	published uint64 // messages since it confirms
	expects   []expected
	holds     holds
	dropped   int // frames since we have closed it
}

type channelState uint8

const (
	channelStands   channelState = iota
	channelConfirms              // it is open, and confirms
	channelGone                  // the server has closed it, or it was never open
	channelCloses                // we have closed it, and the server has not agreed
)

// holds says what keeps messages from going out.
type holds uint8

const (
	holdsBlocked holds = 1 << iota // connection.blocked
	holdsFlow                      // channel.flow
	holdsClosing                   // it closes: nothing goes out on it
)

// expected is a method that answers one of ours. They come in the order of those.
type expected struct {
	of      method // basicGetOK stands for basicGetEmpty, too
	use     use
	auto    bool    // of get: nothing acknowledges
	payload uint64  // of a ping
	late    *uint64 // counts it where its operation was given up
}

// use is what an expected method is for.
type use uint8

const (
	useStep    use = iota // a part of the open operation: what follows says more
	useEnds               // it ends the open operation
	useNothing            // a part of one that was given up
	useLate               // it would have ended one that was given up
	usePing               // Ping asks
	useDoubt              // whether the server is there
	useLeave              // a consumer has ended
)

// expect queues a method that e answers.
func (c *Conn) expect(m method, e expected, numbers []uint64, texts ...string) {
	c.out.bytes = appendMethod(c.out.bytes, m, numbers, texts...)
	c.channel.expects = append(c.channel.expects, e)
}

// lost are publications that were given up, the newest over the oldest.
type lost struct {
	all [lateMost]struct {
		number uint64
		count  *uint64
	}
	next int
}

// giveUp forgets the open operation: its answer, if it comes, is counted.
func (l *line) giveUp() {
	l.op.open = false
	if l.op.of.verb == verbConfirm {
		past := &l.lost
		past.all[past.next].number, past.all[past.next].count = l.op.number, l.op.counts.Late
		past.next = (past.next + 1) % lateMost
		l.op.number = 0
		return
	}
	for i := range l.channel.expects {
		switch e := &l.channel.expects[i]; e.use {
		case useStep:
			e.use = useNothing
		case useEnds:
			e.use, e.late, e.auto = useLate, l.op.counts.Late, l.op.of.auto
		}
	}
}

func count(n *uint64) {
	if n != nil {
		*n++
	}
}

// ends ends the open operation with what is in the outcome.
func (c *Conn) ends(payload []byte, on codec.Listener) {
	c.op.open = false
	on.Message(codec.MessageText, payload)
	c.outcome = Outcome{}
}

// onMethod takes a method without content.
func (c *Conn) onMethod(m *call, on codec.Listener) *http1.Error {
	switch m.of {
	case connectionClose, channelClose:
		return c.onClose(m, on)
	case connectionBlocked, connectionUnblocked:
		c.blocks(m.of == connectionBlocked)
	case channelFlow:
		if len(c.out.left()) > oweMost {
			return errOwes
		}
		c.out.bytes = appendMethod(c.out.bytes, channelFlowOK, m.numbers[:1])
		if c.channel.holds |= holdsFlow; m.is(0) {
			c.goesOn(holdsFlow)
		}
	case basicAck, basicNack:
		return c.onConfirm(m, on)
	case basicCancel:
		return c.onCancel(m)
	case connectionCloseOK:
		if c.end == endNone {
			return breach("the server sent %s, which nothing asked for", m.name)
		}
		c.end = endAgree
	default:
		return c.onExpected(m, on)
	}
	return nil
}

// goesOn lets messages go out again, as far as that has kept them.
func (c *Conn) goesOn(of holds) {
	if c.channel.holds &^= of; c.op.waits && !c.held(c.op.of) && c.mayTalk() {
		c.queue()
	}
}

// onClose takes the end of the channel or of the connection.
func (c *Conn) onClose(m *call, on codec.Listener) *http1.Error {
	err := serverError(m, string(m.texts[0]))
	if m.of == channelClose {
		if c.channel.state == channelGone {
			return errChannel
		}
		if len(c.out.left()) > oweMost {
			return errOwes
		}
		c.out.bytes = appendMethod(c.out.bytes, channelCloseOK, nil)
		c.channel = channel{state: channelGone, holds: c.channel.holds & holdsBlocked, expects: c.channel.expects[:0]}
		c.content.stage = stageNone
		c.lost = lost{}
		c.in.idle = 0 // it ends what we have opened
	} else {
		c.out.bytes = appendMethod(c.out.bytes, connectionCloseOK, nil)
		if c.told = err; c.many != nil {
			c.failAll(err, on)
			return nil
		}
	}
	switch {
	case c.role != roleOperates:
		c.told = err
		return err
	case c.op.open && !c.op.waits:
		if by := method(m.numbers[1]<<16 | m.numbers[2]); by == basicPublish && !c.op.of.publishes() {
			count(c.faulty()) // one that nothing confirms was before it
		}
		c.outcome = Outcome{Err: err}
		c.ends(nil, on)
	default:
		count(c.faulty())
		c.goesOn(holdsFlow | holdsClosing) // they ended with the channel
	}
	return nil
}

// onConfirm takes what the server says about messages that it got.
func (c *Conn) onConfirm(m *call, on codec.Listener) *http1.Error {
	number, multiple, ch := m.numbers[0], m.is(1), &c.channel
	if ch.state != channelConfirms || number > ch.published || number == 0 && !multiple {
		return errConfirm
	}
	c.in.idle = 0
	if number == 0 {
		number = ch.published
	}
	names := func(n uint64) bool { return n != 0 && (n == number || multiple && n < number) }
	late := false
	for i := range c.lost.all {
		if l := &c.lost.all[i]; names(l.number) {
			count(l.count)
			l.number, late = 0, true
		}
	}
	switch ours := c.op.of.verb == verbConfirm && names(c.op.number); {
	case ours && c.op.open && slices.ContainsFunc(c.out.departs, func(d departure) bool { return d.channel == c.number }):
		return errConfirm
	case ours && c.op.open:
		if m.of == basicNack && c.outcome.Err == nil {
			c.outcome.Err = &http1.Error{Kind: kindNack, Detail: "the server did not take the message (basic.nack): its queue is full and rejects, or has failed"}
		}
		c.ends(nil, on)
	case ours && !multiple:
		count(c.op.counts.Late) // a second one
	case m.of == basicNack && !late:
		count(c.op.counts.Errors) // of a message that nothing confirms
	}
	return nil
}

// onCancel takes the end of a consumer that the server wants.
func (c *Conn) onCancel(m *call) *http1.Error {
	if c.role == roleOperates {
		return errConsumer
	}
	if !m.is(0) {
		c.out.bytes = appendMethod(c.out.bytes, basicCancelOK, nil, tag)
	}
	c.told = &http1.Error{Kind: kindCancel, Detail: "the server cancelled the consumer: its queue was deleted, or its node has failed"}
	return c.told
}

// onExpected takes the answer to the oldest method that asks for one.
func (c *Conn) onExpected(m *call, on codec.Listener) *http1.Error {
	ch, of := &c.channel, m.of
	if of == basicGetEmpty {
		of = basicGetOK
	}
	if len(ch.expects) == 0 || ch.expects[0].of != of {
		return breach("the server sent %s, which nothing asked for", m.name)
	}
	c.in.idle = 0
	e := ch.expects[0]
	ch.expects = slices.Delete(ch.expects, 0, 1)
	if m.of == queueDeclareOK && e.use <= useEnds {
		c.outcome.Declared = Declared{c.content.keep(m.texts[0]), m.numbers[0], m.numbers[1]}
	}
	switch e.use {
	case useEnds:
		c.ends(nil, on)
	case useLate:
		count(e.late)
	case usePing:
		on.Pong(e.payload)
	case useLeave:
		c.end = endAgree
		c.out.bytes = appendGoodbye(c.out.bytes)
		on.Leaves(leftCode, "")
	}
	return nil
}

// leftCode is the code of an orderly goodbye, as WebSocket has it.
const leftCode = 1000

// onContent takes a whole message.
func (c *Conn) onContent(in *content, body []byte, on codec.Listener) *http1.Error {
	c.in.idle = 0
	switch in.of {
	case basicReturn:
		return c.onReturn(in)
	case basicDeliver:
		c.outcome = in.outcome()
		on.Message(codec.MessageText, body)
		c.outcome = Outcome{}
		return nil
	}
	e := c.channel.expects[0] // it was checked when its method came
	c.channel.expects = slices.Delete(c.channel.expects, 0, 1)
	o := in.outcome()
	if e.use == useLate {
		if count(e.late); !e.auto {
			c.out.bytes = appendMethod(c.out.bytes, basicNack, []uint64{o.Tag, 0, 1})
		}
		return nil
	}
	if !c.op.of.auto {
		c.out.bytes = appendMethod(c.out.bytes, basicAck, []uint64{o.Tag, 0})
	}
	c.outcome = o
	c.ends(body, on)
	return nil
}

// onReturn takes a message that no queue got. Its confirm follows.
func (l *line) onReturn(in *content) *http1.Error {
	if !l.op.open || !l.op.of.message.Mandatory || l.outcome.Returned {
		return errReturn
	}
	l.outcome.Returned = true
	l.outcome.Err = &http1.Error{Kind: http1.Kind("server " + strconv.FormatUint(in.code, 10)), Detail: "the server returned the message: " + clip(string(in.text(0))) + ": no queue is bound to the exchange by its key"}
	return nil
}

// accepts reports why a method with content cannot come now; nil: it can.
func accepts(c *Conn, m *call) *http1.Error {
	switch m.of {
	case basicDeliver:
		if c.role == roleOperates || string(m.texts[0]) != tag {
			return errConsumer
		}
	case basicGetOK:
		if e := c.channel.expects; len(e) == 0 || e[0].of != basicGetOK {
			return breach("the server sent %s, which nothing asked for", m.name)
		}
	}
	return nil
}
