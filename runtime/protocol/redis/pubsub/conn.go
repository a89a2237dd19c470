package pubsub

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/redis"
)

// MessageStands says that the server has confirmed each name. Messages have the other kinds: binary
// are those that are no UTF-8.
const MessageStands = codec.MessageOwn

// Conn is the client's side of one connection behind its greeting.
type Conn struct {
	names  *Names
	most   int64 // bytes of a frame
	sent   *uint64
	out    outbox
	held   []byte // of a frame that is not whole
	frame  frame
	from   From
	stood  int // names that the server has confirmed
	gone   int // and those whose end it has confirmed
	idle   int // frames in a row without a message
	ends   bool
	left   bool         // nothing more is sent
	broken *http1.Error // what ended the connection
}

// outbox holds outgoing bytes, and where each command ends.
type outbox struct {
	bytes []byte
	sent  int
	ends  []int
}

// From is where a message comes from.
type From struct {
	Channel string
	Pattern string // that the channel fits; empty: the channel itself was asked for
}

var _ codec.Dialogue = (*Conn)(nil)

// New returns a connection behind its greeting. MessageMax bounds a message, in bytes; 0: as the answers
// of a command are bounded.
func New(n *Names, messageMax int64) *Conn {
	if messageMax <= 0 {
		messageMax = redis.AnswerMaxDefault
	}
	return &Conn{names: n, most: min(messageMax, 1<<40) + frameMore}
}

// From is that of the message under way. It is valid during Message.
func (c *Conn) From() From { return c.from }

// Subscribe queues what subscribes. Sent counts each command that the kernel takes, also later ones.
func (c *Conn) Subscribe(sent *uint64) {
	c.sent = sent
	c.out.bytes = c.names.appendSubscribe(c.out.bytes, c.out.ended)
}

// Unsubscribe queues what ends the subscription. The server confirms it, which Leaves reports.
func (c *Conn) Unsubscribe() {
	if c.mayTalk() && !c.ends {
		c.ends = true
		c.out.bytes = c.names.appendUnsubscribe(c.out.bytes, c.out.ended)
	}
}

func (o *outbox) ended(at int) { o.ends = append(o.ends, at) }

// Send implements codec.Dialogue: a subscription sends nothing.
func (c *Conn) Send(codec.MessageKind, []byte, *uint64) error {
	return &http1.Error{Kind: http1.KindValue, Detail: "a subscription only receives: publish with a command"}
}

// Ping asks whether the server is there. It is a command, and counts as one.
func (c *Conn) Ping(payload uint64) {
	if c.mayTalk() && !c.ends {
		c.out.bytes = appendCommand(c.out.bytes, "PING", strconv.FormatUint(payload, 10))
		c.out.ended(len(c.out.bytes))
	}
}

// Leave says that nothing more is sent: Redis needs no goodbye.
func (c *Conn) Leave(uint16, string) { c.left = true }

func (c *Conn) mayTalk() bool { return !c.left && c.broken == nil }

// Over reports that the connection may be closed.
func (c *Conn) Over() bool { return c.broken != nil || c.left || c.isOver() }

// isOver reports that the server has confirmed the end.
func (c *Conn) isOver() bool { return c.ends && c.gone >= c.names.total }

// Output returns what to write next.
func (c *Conn) Output() []byte { return c.out.bytes[c.out.sent:] }

// Sent notes that so many bytes of the output are written.
func (c *Conn) Sent(n int) {
	o := &c.out
	o.sent += n
	whole := 0
	for whole < len(o.ends) && o.ends[whole] <= o.sent {
		whole++
	}
	if c.sent != nil {
		*c.sent += uint64(whole)
	}
	if o.ends = slices.Delete(o.ends, 0, whole); o.sent == len(o.bytes) {
		*o = outbox{}
	}
}

// Unsent is how many bytes are not written.
func (c *Conn) Unsent() int { return len(c.Output()) }

// Rest says that time has passed: frames from before it are no flood.
func (c *Conn) Rest() { c.idle = 0 }

// End says what the end of the connection means: it ends every subscription that it has not ended.
func (c *Conn) End(err error) error {
	switch {
	case c.broken != nil:
		return c.broken
	case !errors.Is(err, io.EOF):
		return err
	case c.isOver():
		return nil
	case len(c.held) > 0:
		return &http1.Error{Kind: http1.KindTruncated, Detail: "the connection was closed in the middle of a message"}
	}
	return &http1.Error{Kind: http1.KindClosed, Detail: "the server closed the connection of the subscription"}
}

// Release forgets what is under way. The connection cannot be used any more.
func (c *Conn) Release() { c.left, c.held, c.out = true, nil, outbox{} }

// Feed takes the next bytes from the server. After an error the connection can only be closed.
func (c *Conn) Feed(b []byte, on codec.Listener) error {
	for c.broken == nil {
		all := b
		if len(c.held) > 0 {
			c.held = append(c.held, b...)
			all = c.held
		}
		whole, err := c.frame.whole(all, c.most)
		if err == nil && !whole {
			if len(c.held) == 0 && len(b) > 0 {
				c.held = bytes.Clone(b)
			}
			return nil
		}
		n := c.frame.at
		b = all[n:]
		c.held, c.frame = nil, frame{}
		if err == nil {
			err = c.take(all[:n], on)
		}
		if c.broken = err; err == nil && len(b) == 0 {
			return nil
		}
	}
	return c.broken
}

// take takes a whole frame.
func (c *Conn) take(b []byte, on codec.Listener) *http1.Error {
	var memory [wordsMost]word
	all, plain := words(b, &memory)
	switch kind := b[0]; {
	case kind == '-' || kind == '!':
		return redis.ServerError(c.asks(), string(all[0].text))
	case kind == '>' || kind == '*':
		if plain && len(all) > 1 {
			if known, err := c.means(all, on); known {
				return err
			}
		}
		if !plain && claims(b) {
			return breach("a message of the subscription has more parts than it should, or others in them")
		}
		if kind == '*' {
			return breach("the server sent an answer that no command asked for")
		}
	case kind == '|':
	case kind == '$' || kind == '+': // RESP3 answers a ping alone
		return c.ponged(all[0].text, on)
	default:
		return breach("the server sent an answer that no command asked for")
	}
	if c.idle++; c.idle > idleMost {
		return &http1.Error{Kind: http1.KindFlood, Detail: strconv.Itoa(idleMost) + " pushes and attributes in a row carried no message"}
	}
	return nil
}

// asks says which command an error answers, as far as it is known.
func (c *Conn) asks() string {
	verb, _ := c.names.at(c.stood)
	switch {
	case c.ends:
		return "unsubscribe: "
	case verb != "":
		return verb + ": "
	}
	return ""
}

// means takes a frame whose first word says what it is; false: it says nothing that is known.
func (c *Conn) means(all []word, on codec.Listener) (known bool, err *http1.Error) {
	switch string(all[0].text) {
	case "message":
		return true, c.message("SUBSCRIBE", all[1:], on)
	case "pmessage":
		return true, c.message("PSUBSCRIBE", all[1:], on)
	case "smessage":
		return true, c.message("SSUBSCRIBE", all[1:], on)
	case "subscribe", "psubscribe", "ssubscribe":
		return true, c.confirmed(all, on)
	case "unsubscribe", "punsubscribe", "sunsubscribe":
		return true, c.ended(all, on)
	case "pong":
		return true, c.ponged(all[1].text, on)
	}
	return false, nil
}

// message takes a message behind its first word.
func (c *Conn) message(verb string, all []word, on codec.Listener) *http1.Error {
	pattern, want := "", 2
	if verb == "PSUBSCRIBE" {
		pattern, want = string(all[0].text), 3
	}
	if len(all) != want || slices.ContainsFunc(all, func(w word) bool { return w.kind != '$' && w.kind != '+' && w.kind != '=' }) {
		return breach("a message of the subscription has %d parts, or one that is no text", len(all)+1)
	}
	if !c.names.has(verb, all[0].text) {
		return breach("the server sent a message of %q, to which the session does not subscribe", clip(all[0].text))
	}
	c.idle = 0
	c.from = From{Channel: string(all[want-2].text), Pattern: pattern}
	payload, kind := all[want-1].text, codec.MessageText
	if !utf8.Valid(payload) {
		kind = codec.MessageBinary
	}
	on.Message(kind, payload)
	c.from = From{}
	return nil
}

// confirmed takes the confirmation of a name: they come in the order of the names.
func (c *Conn) confirmed(all []word, on codec.Listener) *http1.Error {
	verb, name := c.names.at(c.stood)
	if verb == "" || !strings.EqualFold(verb, string(all[0].text)) || name != string(all[1].text) {
		return breach("the server confirmed %s %q out of turn", all[0].text, clip(all[1].text))
	}
	c.idle = 0
	if c.stood++; c.stood == c.names.total {
		on.Message(MessageStands, nil)
	}
	return nil
}

// ended takes the confirmation that a name is given up.
func (c *Conn) ended(all []word, on codec.Listener) *http1.Error {
	verb := strings.ToUpper(strings.Replace(string(all[0].text), "un", "", 1))
	switch {
	case !c.ends:
		return redis.ServerError("", "UNSUBSCRIBED the server ended the subscription to "+strconv.Quote(string(clip(all[1].text))))
	case c.gone >= c.names.total || !c.names.has(verb, all[1].text):
		return breach("the server confirmed %s %q, to which the session does not subscribe", all[0].text, clip(all[1].text))
	}
	c.idle = 0
	if c.gone++; c.gone == c.names.total {
		on.Leaves(goodbye, "")
	}
	return nil
}

// goodbye is the code of a normal closure.
const goodbye = 1000

// ponged takes the answer to a ping.
func (c *Conn) ponged(text []byte, on codec.Listener) *http1.Error {
	payload, err := strconv.ParseUint(string(text), 10, 64)
	if err != nil {
		return breach("the server answered %q to a ping", clip(text))
	}
	if c.idle++; c.idle > idleMost { // nothing asks so often
		return &http1.Error{Kind: http1.KindFlood, Detail: strconv.Itoa(idleMost) + " answers to pings came in a row"}
	}
	on.Pong(payload)
	return nil
}

// clip returns what an error shows of bytes.
func clip(b []byte) []byte { return b[:min(len(b), 40)] }
