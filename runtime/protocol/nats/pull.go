package nats

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// Consumer is a pull consumer of JetStream. A connection of its own asks it for messages, one request at a
// time.
type Consumer struct {
	Stream, Name string
	Batch        int           // messages that one request asks for
	Within       time.Duration // how long the server keeps a request
}

// What a connection to a consumer reports beside messages.
const (
	MessageStands codec.MessageKind = codec.MessageOwn + iota // the consumer is there
	MessageVoid                                               // a request has ended before it had all of its messages
)

// consulted is the number of the question for the consumer. Requests count from 1.
const consulted = 0

// pull is how far a connection is with its consumer.
type pull struct {
	of     *Consumer
	asks   []byte // the payload of a request
	number uint64 // of the newest one
	left   int    // messages that it may still bring; 0: it has ended
	stands bool   // the consumer is there
	barren int    // statuses in a row
	late   *uint64
}

func (of *Consumer) pull() *pull {
	if of == nil {
		return nil
	}
	return &pull{of: of, asks: fmt.Appendf(nil, `{"batch":%d,"expires":%d}`, of.Batch, of.Within)}
}

// Consult asks whether the consumer is there: MessageStands answers, or an error that ends the connection.
// Late counts statuses that no request waits for.
func (c *Conn) Consult(late *uint64, counts ...*uint64) {
	c.pull.late = late
	c.says("$JS.API.CONSUMER.INFO."+c.pull.of.Stream+"."+c.pull.of.Name, consulted, true, nil, counts)
}

// Pull asks for messages, unless an earlier request still brings some.
func (c *Conn) Pull(counts ...*uint64) (queued bool) {
	p := c.pull
	if !c.mayTalk() || p == nil || !p.stands || p.left > 0 {
		return false
	}
	p.number++
	p.left = p.of.Batch
	c.says("$JS.API.CONSUMER.MSG.NEXT."+p.of.Stream+"."+p.of.Name, p.number, true, p.asks, counts)
	return true
}

// Expire gives up the request under way: the server should have ended it. What it still brings is taken.
func (c *Conn) Expire() { c.pull.left = 0 }

// Settlement is what a consumer hears of a message.
type Settlement uint8

// The settlements.
const (
	Ack      Settlement = iota // it is done
	Nak                        // it comes again
	Term                       // it never comes again
	Progress                   // it takes longer: the time for its acknowledgement begins anew
)

// Settle tells the consumer of a message by its reply. A Nak may say how long the server waits before it
// sends the message again.
func (c *Conn) Settle(reply string, how Settlement, delay time.Duration, counts ...*uint64) (queued bool) {
	if !c.mayTalk() {
		return false
	}
	text := []string{"+ACK", "-NAK", "+TERM", "+WPI"}[how]
	if delay > 0 {
		text += ` {"delay":` + strconv.FormatInt(int64(delay), 10) + `}`
	}
	c.says(reply, 0, false, []byte(text), counts)
	return true
}

// says queues a message, whose answer goes to a number of the inbox if it asks.
func (c *Conn) says(subject string, number uint64, asks bool, data []byte, counts []*uint64) {
	b := c.out.bytes
	b = append(append(append(b, "PUB "...), subject...), ' ')
	if asks {
		b = append(strconv.AppendUint(append(b, c.inbox...), number, 10), ' ')
	}
	b = append(strconv.AppendInt(b, int64(len(data)), 10), "\r\n"...)
	c.out.bytes = append(append(b, data...), "\r\n"...)
	for _, count := range counts {
		c.out.departs = append(c.out.departs, departure{len(c.out.bytes), count})
	}
}

// pulled takes a message of the consumer, or a status of a request.
func (c *Conn) pulled(m *header, head, body []byte, on codec.Listener) *http1.Error {
	p := c.pull
	if word, ours := bytes.CutPrefix(m.subject, []byte(c.inbox)); ours {
		return c.statused(word, head, body, on)
	}
	c.outcome = Outcome{Subject: m.subject, Reply: m.reply}
	var ok bool
	if c.outcome.Deliveries, c.outcome.Sequence, ok = p.of.place(m.reply); !ok || !p.stands {
		return errPlace
	}
	if len(head) > 0 {
		_, _, fields, err := readHead(head)
		if err != nil {
			return err
		}
		c.outcome.Fields = fields
	}
	p.left, p.barren = max(0, p.left-1), 0
	on.Message(codec.MessageText, body)
	c.outcome = Outcome{}
	return nil
}

// place reads where a message stands, from where its settlement goes: how often it was delivered, and its
// number in the stream.
func (of *Consumer) place(reply []byte) (deliveries, sequence uint64, ok bool) {
	const domain, random = 2, 1 // words that newer servers add before and behind
	rest, is := bytes.CutPrefix(reply, []byte("$JS.ACK."))
	var words [7 + domain + random][]byte
	n := 0
	for is {
		if n == len(words) {
			return 0, 0, false
		}
		words[n], rest, is = bytes.Cut(rest, []byte("."))
		n++
	}
	all := words[:n]
	if n >= 7+domain {
		all = all[domain:]
	}
	if len(all) < 7 || len(all) > 8 || n == 8 || string(all[0]) != of.Stream || string(all[1]) != of.Name {
		return 0, 0, false
	}
	deliveries, err := strconv.ParseUint(string(all[2]), 10, 64)
	sequence, wrong := strconv.ParseUint(string(all[3]), 10, 64)
	return deliveries, sequence, err == nil && wrong == nil && deliveries > 0 && sequence > 0 && !slices.ContainsFunc(reply, blank)
}

// blank would end a settlement's line in its middle.
func blank(b byte) bool { return b <= ' ' }

// statused takes what a server says of a request.
func (c *Conn) statused(word, head, body []byte, on codec.Listener) *http1.Error {
	p := c.pull
	if p.barren++; p.barren > idleMost {
		return errFlood
	}
	number, is := number(word)
	if !is || len(head) == 0 && number != consulted {
		return errStatus
	}
	status, text := 0, ""
	if len(head) > 0 {
		var err *http1.Error
		if status, text, _, err = readHead(head); err != nil {
			return err
		}
	}
	switch {
	case number == consulted:
		return c.consulted(status, body, on)
	case status == 0:
		return errStatus
	case uint64(number) != p.number || p.left == 0:
		if p.late != nil {
			*p.late++
		}
	case status == statusBeats:
	case status == 404 || status == 408 || status == 409 && strings.EqualFold(text, "Leadership Change"):
		p.left = 0
		on.Message(MessageVoid, nil)
	default:
		return p.of.refused(status, text)
	}
	return nil
}

// statusBeats says that the server is there.
const statusBeats = 100

// refused is the error of a request that no other one would change.
func (of *Consumer) refused(status int, text string) *http1.Error {
	if status == statusNone {
		return errNoConsumer
	}
	detail := fmt.Sprintf("consumer %q of the stream %q: the server answered %d %s", of.Name, of.Stream, status, text)
	low := strings.ToLower(text)
	for word, remedy := range map[string]string{
		"maxwaiting": "raise max_waiting of the consumer, or let fewer sessions pull from it", "maxrequestbatch": "lower batch, or raise max_batch of the consumer",
		"maxrequestexpires": "lower within, or raise max_expires of the consumer",
	} {
		if strings.Contains(low, word) {
			detail += ": " + remedy
		}
	}
	return &http1.Error{Kind: http1.Kind("server " + strconv.Itoa(status)), Detail: detail}
}

// consulted takes what the server says of the consumer.
func (c *Conn) consulted(status int, body []byte, on codec.Listener) *http1.Error {
	p := c.pull
	var told struct {
		Error  *jetError `json:"error"`
		Name   string    `json:"name"`
		Config struct {
			Delivers string `json:"deliver_subject"`
		} `json:"config"`
	}
	switch {
	case p.stands:
		return errWanted
	case status == statusNone:
		return errNoConsumer
	case status != 0:
		return p.of.refused(status, "")
	case json.Unmarshal(body, &told) != nil || told.Error == nil && told.Name != p.of.Name:
		return errConsumer
	case told.Error != nil:
		return told.Error.explain()
	case told.Config.Delivers != "":
		return &http1.Error{Kind: http1.KindValue, Detail: fmt.Sprintf("consumer: %q of the stream %q pushes its messages to %.60q: subscribe to that subject, or name a consumer that is pulled from", p.of.Name, p.of.Stream, told.Config.Delivers)}
	}
	p.stands, p.barren = true, 0
	on.Message(MessageStands, nil)
	return nil
}
