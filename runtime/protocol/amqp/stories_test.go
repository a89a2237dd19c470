package amqp_test

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"hyperscale/runtime/protocol/amqp"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// Stories give a greeting and operations, the server's frames, and the outcome, which must be the same
// whether the bytes come at once or in pieces.
//
//	talk [limit=N] [frame=N] [consume=each|auto] [end=eof|reset]
//	greet [user=NAME] [password=WORD] [external=yes] [consume=each|auto] [end=eof|reset]
//
// A line with > does something: see heard.do. One with < is a frame of the server: a method with its
// arguments, "header SIZE [headers]", "body TEXT", or "raw" with bytes escaped as in Go. <*N repeats it.
func TestStories(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatal("no stories", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
				var s scene
				s.read(t, d)
				play := s.talk
				if d.Cmd == "greet" {
					play = s.greet
				}
				want := play(1 << 30)
				for _, cut := range []int{1, 2, 3, 7, 1 << 10} {
					if got := play(cut); got != want {
						t.Errorf("%s: in pieces of %d bytes:\n%s\nat once:\n%s", d.Pos, cut, got, want)
					}
				}
				return want
			})
		})
	}
}

type scene struct {
	config amqp.Config
	frame  string
	end    error
	lines  []line
}

type line struct {
	does  string
	bytes []byte
}

func (s *scene) read(t *testing.T, d *datadriven.TestData) {
	s.frame = "131072"
	for _, a := range d.CmdArgs {
		switch value := strings.Join(a.Vals, ", "); a.Key {
		case "limit":
			s.config.MessageMax, _ = strconv.ParseInt(value, 10, 64)
		case "frame":
			s.frame = value
		case "user":
			s.config.User = value
		case "password":
			s.config.Password = value
		case "external":
			s.config.External = true
		case "consume":
			s.config.Consumer = &amqp.Consumer{Queue: "jobs", Prefetch: 10, Auto: value == "auto"}
		case "end":
			s.end = map[string]error{"eof": io.EOF, "reset": errors.New("reset")}[value]
		default:
			d.Fatalf(t, "no argument is called %q", a.Key)
		}
	}
	for text := range strings.Lines(d.Input) {
		sign, rest, _ := strings.Cut(strings.TrimSuffix(text, "\n"), " ")
		if sign == ">" {
			s.lines = append(s.lines, line{does: rest})
			continue
		}
		times := 1
		if _, n, found := strings.Cut(sign, "*"); found {
			times, _ = strconv.Atoi(n)
		}
		said, err := encode(rest)
		if err != nil || !strings.HasPrefix(sign, "<") {
			d.Fatalf(t, "%q: %v", text, err)
		}
		s.lines = append(s.lines, line{bytes: []byte(strings.Repeat(string(said), times))})
	}
}

// encode returns the frame that a line tells.
func encode(text string) ([]byte, error) {
	word, rest, _ := strings.Cut(text, " ")
	switch word {
	case "raw":
		said, err := strconv.Unquote(`"` + strings.NewReplacer(`"`, `\"`, `\0`, `\x00`).Replace(rest) + `"`)
		return []byte(said), err
	case "body":
		return amqp.EncodeBody(rest), nil
	case "header":
		size, headers, found := strings.Cut(rest, " ")
		n, err := strconv.Atoi(size)
		m := amqp.Message{Priority: amqp.PriorityNone}
		if name, value, is := strings.Cut(headers, "="); found && is {
			m.Texts[amqp.ContentType] = amqp.Plain("text/plain")
			m.Headers = []amqp.Header{{Name: name, Value: amqp.Plain(value)}}
		}
		return amqp.EncodeHeader(n, m), err
	}
	return amqp.Encode(word, strings.Fields(rest))
}

// start is what a server says up to the channel, with the size of its frames.
func start(frame string, consumes bool) (all []byte) {
	steps := []string{"connection.start 0 9 product=RabbitMQ PLAIN_EXTERNAL en_US", "connection.tune 2047 " + frame + " 60", "connection.open-ok -", "channel.open-ok -"}
	if consumes {
		steps = append(steps, "basic.qos-ok", "basic.consume-ok c")
	}
	for _, text := range steps {
		b, _ := encode(text)
		all = append(all, b...)
	}
	return all
}

// begun returns a connection behind its greeting.
func begun(c amqp.Config, frame string) (*amqp.Conn, error) {
	p, err := amqp.New(c)
	if err != nil {
		return nil, err
	}
	r, _ := codec.NewRounds(p.Greet())
	_, rest, d, err := r.Feed(nil, start(frame, c.Consumer != nil))
	if err != nil || d == nil || len(rest) > 0 {
		return nil, fmt.Errorf("greeting: %w", err)
	}
	return d.(*amqp.Conn), nil
}

// talk plays operations on a connection that is greeted.
func (s *scene) talk(cut int) string {
	var out heard
	c, err := begun(s.config, s.frame)
	if err != nil {
		return err.Error()
	}
	out.conn = c
	for _, l := range s.lines {
		if l.does != "" {
			out.do(l.does)
			continue
		}
		for b := l.bytes; len(b) > 0; {
			n := min(cut, len(b))
			if err := c.Feed(b[:n], &out); err != nil {
				out.writes()
				out.say("%s", short(err.Error()))
				return out.String()
			}
			b = b[n:]
		}
		out.writes()
	}
	if s.end != nil {
		out.say("end: %v", c.End(s.end))
	}
	if c.Over() {
		out.say("over")
	}
	if c.Owes() {
		out.say("owes")
	}
	out.counts()
	return out.String()
}

// greet plays a greeting.
func (s *scene) greet(cut int) string {
	var out heard
	protocol, err := amqp.New(s.config)
	if err != nil {
		return err.Error()
	}
	r, first := codec.NewRounds(protocol.Greet())
	out.shows(first)
	for _, l := range s.lines {
		for b := l.bytes; len(b) > 0; {
			n := min(cut, len(b))
			wrote, _, d, err := r.Feed(nil, b[:n])
			out.shows(wrote)
			if b = b[n:]; err != nil {
				out.say("%s", short(err.Error()))
				return out.String()
			}
			if d != nil {
				out.say("begins")
			}
		}
	}
	if s.end != nil {
		out.say("end: %v", r.End(s.end))
	}
	return out.String()
}

// heard writes down what a connection says and writes.
type heard struct {
	strings.Builder
	conn                            *amqp.Conn
	sent, unconfirmed, late, errors uint64
}

func (h *heard) say(format string, values ...any) { fmt.Fprintf(h, format+"\n", values...) }

func (h *heard) shows(b []byte) {
	for _, l := range amqp.Shown(b) {
		h.say("-> %s", short(l))
	}
}

func (h *heard) counts() {
	if h.sent+h.unconfirmed+h.late+h.errors > 0 {
		h.say("%d sent, %d unconfirmed, %d late, %d errors", h.sent, h.unconfirmed, h.late, h.errors)
	}
}

// writes shows what the connection writes, and lets the kernel take it.
func (h *heard) writes() {
	h.shows(h.conn.Output())
	h.conn.Sent(len(h.conn.Output()))
}

func (h *heard) order() amqp.Order {
	return amqp.Order{Keeps: true, Counts: amqp.Counts{Sent: &h.sent, Unconfirmed: &h.unconfirmed, Late: &h.late, Errors: &h.errors}}
}

// do does what a line says: publish, confirm or mandatory with a key and a body (a number of bytes behind a
// star), get or getauto with a queue, declare with a queue, an exchange and a key, ack, requeue or reject with
// a number, forget, leave or ping.
func (h *heard) do(text string) {
	words := append(strings.SplitN(text, " ", 4), "", "", "")
	number, _ := strconv.ParseUint(words[1], 10, 64)
	var o *amqp.Operation
	switch words[0] {
	case "forget":
		h.say("forgets %v", h.conn.Forget())
	case "leave":
		h.conn.Leave(1000, "")
	case "ping":
		h.conn.Ping(7)
	case "ack", "requeue", "reject":
		if err := h.conn.Settle(number, map[string]codec.Settlement{"ack": codec.SettleAck, "requeue": codec.SettleRequeue, "reject": codec.SettleReject}[words[0]]); err != nil {
			h.say("%v", err)
		}
	case "get", "getauto":
		o = amqp.Get(amqp.Plain(words[1]), words[0] == "getauto")
	case "declare":
		d := amqp.Declaration{Queue: amqp.Plain(words[1]), Of: amqp.DeclaresQueue, Exchange: words[2], Type: "topic", Key: amqp.Plain(words[3]), Durable: true}
		switch {
		case words[1] == "-":
			d.Of = amqp.DeclaresExchange
		case words[3] != "":
			d.Of = amqp.DeclaresBound
		}
		d.Arguments = []amqp.Argument{{Name: "x-max-length", Value: int64(5)}, {Name: "x-single-active-consumer", Value: true}, {Name: "x-overflow", Value: "reject-publish"}}
		o = amqp.Declare(d)
	default:
		m := amqp.Message{Key: amqp.Plain(words[1]), Body: amqp.Plain(words[2]), Confirm: words[0] != "publish", Mandatory: words[0] == "mandatory", Priority: amqp.PriorityNone}
		if n, is := strings.CutPrefix(words[2], "*"); is {
			size, _ := strconv.Atoi(n)
			m.Body = amqp.Plain(strings.Repeat("x", size))
		}
		if words[3] != "" {
			m.Persistent, m.Priority = true, 4
			m.Texts[amqp.ReplyTo], m.Headers = amqp.Plain("back"), []amqp.Header{{Name: "k", Value: amqp.Plain(words[3])}}
		}
		o = amqp.Publication(m)
	}
	if o != nil {
		if err := h.conn.Operate(o, h.order()); err != nil {
			h.say("%v", err)
		}
	}
	h.writes()
}

func (h *heard) Message(_ codec.MessageKind, b []byte) {
	o := h.conn.Outcome()
	h.WriteString("message " + strconv.Quote(short(string(b))))
	if o.Got {
		fmt.Fprintf(h, " from %q by %q number %d", o.Exchange, o.Key, o.Tag)
	}
	for i := range o.Fields.Len() {
		name, value := o.Fields.At(i)
		fmt.Fprintf(h, " %s=%s", name, value)
	}
	if o.Redelivered {
		h.WriteString(" again")
	}
	if o.Queue != nil {
		fmt.Fprintf(h, " queue %s has %d messages and %d consumers", o.Queue, o.Messages, o.Consumers)
	}
	if o.Err != nil {
		h.WriteString(" " + short(o.Err.Error()))
		if http1.KindOf(o.Err) == http1.KindOther {
			h.WriteString(" without a kind")
		}
	}
	h.WriteByte('\n')
}

func (h *heard) Pong(payload uint64)               { h.say("pong %d", payload) }
func (h *heard) Leaves(code uint16, reason string) { h.say("leaves %d %s", code, reason) }

func short(s string) string {
	if len(s) > 200 {
		return s[:200] + "..."
	}
	return s
}
