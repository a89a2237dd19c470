package nats_test

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/nats"
)

// Stories give a greeting and operations, the server's bytes, and the outcome, which must be the same
// whether the bytes come at once or in pieces.
//
//	talk [limit=N] [payload=N] [heads=no] [queue=NAME] [pull=BATCH] [end=eof|reset]
//	greet [user=NAME] [password=WORD] [token=WORD] [seed=SEED] [tls=yes|first] [queue=NAME]
//
// A line with > queues an operation: verb, subject, data; "> forget", "> leave", "> ping" do those. Of the
// consumer c of ORDERS, "> consult", "> pull" and "> ack", "> nak DELAY", "> term", "> progress" do those, of
// its newest message.
// One with < is the server's bytes, escaped as in Go; <*N repeats them.
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
	config nats.Config
	info   string
	end    error
	lines  []line
}

type line struct {
	does  string
	bytes []byte
}

func (s *scene) read(t *testing.T, d *datadriven.TestData) {
	payload, heads := "1048576", "true"
	for _, a := range d.CmdArgs {
		switch value := strings.Join(a.Vals, ", "); a.Key {
		case "limit":
			s.config.MessageMax, _ = strconv.ParseInt(value, 10, 64)
		case "payload":
			payload = value
		case "heads":
			heads = "false"
		case "user":
			s.config.User = value
		case "password":
			s.config.Password = value
		case "token":
			s.config.Token = value
		case "seed":
			s.config.Seed = value
		case "tls":
			s.config.TLS, s.config.First = true, value == "first"
		case "queue":
			s.config.Subscription = &nats.Subscription{Subject: "orders.>", Queue: value}
		case "pull":
			batch, _ := strconv.Atoi(value)
			s.config.Consumer = &nats.Consumer{Stream: "ORDERS", Name: "c", Batch: batch, Within: time.Second}
		case "end":
			s.end = map[string]error{"eof": io.EOF, "reset": errors.New("reset")}[value]
		default:
			d.Fatalf(t, "no argument is called %q", a.Key)
		}
	}
	s.info = `INFO {"max_payload":` + payload + `,"headers":` + heads + `}` + "\r\n"
	for text := range strings.Lines(d.Input) {
		text = strings.TrimSuffix(text, "\n")
		sign, rest, _ := strings.Cut(text, " ")
		if sign == ">" {
			s.lines = append(s.lines, line{does: rest})
			continue
		}
		times := 1
		if _, n, found := strings.Cut(sign, "*"); found {
			times, _ = strconv.Atoi(n)
		}
		said, err := strconv.Unquote(`"` + strings.ReplaceAll(rest, `"`, `\"`) + `"`)
		if err != nil || !strings.HasPrefix(sign, "<") {
			d.Fatalf(t, "%q: %v", text, err)
		}
		s.lines = append(s.lines, line{bytes: []byte(strings.Repeat(said, times))})
	}
}

// talk plays operations on a connection that is greeted.
func (s *scene) talk(cut int) string {
	var out heard
	protocol, err := nats.New(s.config)
	if err != nil {
		return err.Error()
	}
	_, rest, d, err := greeted(protocol, s.info+"PONG\r\n")
	if err != nil || len(rest) > 0 {
		return fmt.Sprint("greeting: ", err)
	}
	c := d.(*nats.Conn)
	out.conn = c
	for _, l := range s.lines {
		if l.does != "" {
			out.do(l.does)
			continue
		}
		for b := l.bytes; len(b) > 0; {
			n := min(cut, len(b))
			if err := c.Feed(b[:n], &out); err != nil {
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
	if out.sent+out.late+out.errors > 0 {
		out.say("%d sent, %d late, %d errors", out.sent, out.late, out.errors)
	}
	return out.String()
}

// greeted runs a greeting whose server says all at once.
func greeted(p *nats.Protocol, says string) (wrote, rest []byte, d codec.Dialogue, err error) {
	r, wrote := codec.NewRounds(p.Greet(nats.Random{}))
	wrote, rest, d, err = r.Feed(wrote, []byte(says))
	return wrote, rest, d, err
}

// greet plays a greeting.
func (s *scene) greet(cut int) string {
	var out heard
	protocol, err := nats.New(s.config)
	if err != nil {
		return err.Error()
	}
	r, first := codec.NewRounds(protocol.Greet(nats.Random{}))
	out.shows(first)
	for _, l := range s.lines {
		if l.does == "secured" {
			out.shows(r.Secured(nil, nil))
			continue
		}
		for b := l.bytes; len(b) > 0; {
			n := min(cut, len(b))
			wrote, rest, d, err := r.Feed(nil, b[:n])
			out.shows(wrote)
			switch {
			case err != nil:
				out.say("%s", short(err.Error()))
				return out.String()
			case d != nil:
				out.conn = d.(*nats.Conn)
				out.say("begins")
				if err := d.Feed(append([]byte(nil), rest...), &out); err != nil {
					out.say("%s", short(err.Error()))
					return out.String()
				}
				for b = b[n:]; len(b) > 0; b = b[min(cut, len(b)):] {
					if err := d.Feed(b[:min(cut, len(b))], &out); err != nil {
						out.say("%s", short(err.Error()))
						return out.String()
					}
				}
				return out.String()
			}
			b = b[n:]
		}
		if r.Secures() {
			out.say("TLS begins")
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
	conn               *nats.Conn
	reply              string // of the newest message
	sent, late, errors uint64
}

func (h *heard) say(format string, values ...any) { fmt.Fprintf(h, format+"\n", values...) }

func (h *heard) shows(b []byte) {
	for l := range strings.Lines(string(b)) {
		h.say("-> %s", short(strings.TrimSpace(l)))
	}
}

// writes shows what the connection writes, and lets the kernel take it.
func (h *heard) writes() {
	h.shows(h.conn.Output())
	h.conn.Sent(len(h.conn.Output()))
}

func (h *heard) do(text string) {
	words := strings.SplitN(text, " ", 3)
	switch words[0] {
	case "forget":
		h.say("forgets %v", h.conn.Forget())
	case "leave":
		h.conn.Leave(1000, "")
	case "ping":
		h.conn.Ping(7)
	case "consult":
		h.conn.Consult(&h.late, &h.sent)
	case "pull":
		h.say("pulls %v", h.conn.Pull(&h.sent))
	case "expire":
		h.conn.Expire()
	case "ack", "nak", "term", "progress":
		how := map[string]nats.Settlement{"ack": nats.Ack, "nak": nats.Nak, "term": nats.Term, "progress": nats.Progress}[words[0]]
		delay := time.Duration(0)
		if len(words) > 1 {
			delay, _ = time.ParseDuration(words[1])
		}
		h.say("settles %v", h.conn.Settle(h.reply, how, delay, &h.sent))
	default:
		m := nats.Message{
			Verb:    map[string]nats.Verb{"publish": nats.Publish, "flush": nats.Flush, "stream": nats.Stream, "request": nats.Request}[words[0]],
			Subject: nats.Plain(words[1]), Data: nats.Plain(words[2]),
		}
		if head, data, found := strings.Cut(words[2], "|"); found {
			m.Header, m.Data = []nats.Field{{Name: "h", Value: nats.Plain(head)}}, nats.Plain(data)
		}
		if err := h.conn.Operate(nats.Compile(m), nats.Order{Keeps: true, Sent: &h.sent, Late: &h.late, Errors: &h.errors}); err != nil {
			h.say("%v", err)
		}
	}
	h.writes()
}

func (h *heard) Message(kind codec.MessageKind, b []byte) {
	switch kind {
	case nats.MessageStands:
		h.say("stands")
		return
	case nats.MessageVoid:
		h.say("void")
		return
	}
	o := h.conn.Outcome()
	h.reply = string(o.Reply)
	h.WriteString("message " + strconv.Quote(short(string(b))))
	if len(o.Subject) > 0 {
		h.WriteString(" at " + string(o.Subject))
	}
	if len(o.Reply) > 0 {
		h.WriteString(" reply " + string(o.Reply))
	}
	for i := range o.Fields.Len() {
		name, value := o.Fields.At(i)
		fmt.Fprintf(h, " %s=%s", name, value)
	}
	if o.Deliveries > 0 {
		fmt.Fprintf(h, " number %d, delivery %d", o.Sequence, o.Deliveries)
	}
	if o.Duplicate {
		h.WriteString(" again")
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
	if len(s) > 160 {
		return s[:160] + "..."
	}
	return s
}
