package mqtt_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/mqtt"
)

// Stories give a greeting and operations, the server's bytes, and the outcome, which must be the same
// whether the bytes come at once or in pieces.
//
//	talk [v5] [connack=HEX] [limit=N] [filter=F] [qos=N] [resumes] [keep=SECONDS] [end=eof|reset]
//	greet [the same] [user=NAME] [password=WORD]
//
// A line with > queues an operation: "publish QOS[r] TOPIC DATA", or does "forget", "leave", "ping", "tick",
// "subscribe", "disconnect". One with < is the server's bytes in hex; <*N repeats them.
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
	config  mqtt.Config
	connack string
	end     error
	lines   []line
}

type line struct {
	does  string
	bytes []byte
}

func (s *scene) read(t *testing.T, d *datadriven.TestData) {
	sub := func() *mqtt.Subscription {
		if s.config.Subscription == nil {
			s.config.Subscription = new(mqtt.Subscription)
		}
		return s.config.Subscription
	}
	for _, a := range d.CmdArgs {
		value := strings.Join(a.Vals, ", ")
		number, _ := strconv.ParseInt(value, 10, 64)
		switch a.Key {
		case "v5":
			s.config.Version = mqtt.Version5
		case "connack":
			s.connack = value
		case "limit":
			s.config.MessageMax = number
		case "filter":
			sub().Filters = append(sub().Filters, strings.Split(value, ", ")...)
		case "qos":
			sub().QoS = uint8(number)
		case "resumes":
			s.config.Resumes = true
		case "expiry":
			s.config.Expiry = uint32(number)
		case "keep":
			s.config.KeepAlive = uint16(number)
		case "user":
			s.config.User = value
		case "password":
			s.config.Password = value
		case "end":
			s.end = map[string]error{"eof": io.EOF, "reset": errors.New("reset")}[value]
		default:
			d.Fatalf(t, "no argument is called %q", a.Key)
		}
	}
	if s.connack == "" {
		s.connack = map[bool]string{false: "20020000", true: "2003000000"}[s.config.Version == mqtt.Version5]
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
		said, err := hex.DecodeString(strings.ReplaceAll(rest, " ", ""))
		if err != nil || !strings.HasPrefix(sign, "<") {
			d.Fatalf(t, "%q: %v", text, err)
		}
		s.lines = append(s.lines, line{bytes: []byte(strings.Repeat(string(said), times))})
	}
}

// talk plays operations on a connection that is greeted.
func (s *scene) talk(cut int) string {
	var out heard
	protocol, err := mqtt.New(s.config)
	if err != nil {
		return err.Error()
	}
	welcome, _ := hex.DecodeString(s.connack)
	_, rest, d, err := greeted(protocol, welcome)
	if err != nil || d == nil || len(rest) > 0 {
		return fmt.Sprint("greeting: ", err)
	}
	c := d.(*mqtt.Conn)
	out.conn, out.version = c, s.config.Version
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
	if out.sent+out.late+out.again > 0 {
		out.say("%d sent, %d late, %d again", out.sent, out.late, out.again)
	}
	return out.String()
}

// greeted runs a greeting whose server says all at once.
func greeted(p *mqtt.Protocol, says []byte) (wrote, rest []byte, d codec.Dialogue, err error) {
	r, wrote := codec.NewRounds(p.Greet("me", nil))
	wrote, rest, d, err = r.Feed(wrote, says)
	return wrote, rest, d, err
}

// greet plays a greeting.
func (s *scene) greet(cut int) string {
	var out heard
	protocol, err := mqtt.New(s.config)
	if err != nil {
		return err.Error()
	}
	r, first := codec.NewRounds(protocol.Greet("me", nil))
	out.shows(first)
	for _, l := range s.lines {
		for b := l.bytes; len(b) > 0; {
			n := min(cut, len(b))
			wrote, _, d, err := r.Feed(nil, b[:n])
			out.shows(wrote)
			switch {
			case err != nil:
				out.say("%s", short(err.Error()))
				return out.String()
			case d != nil:
				out.say("begins")
				return out.String()
			}
			b = b[n:]
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
	conn              *mqtt.Conn
	version           mqtt.Version
	sent, late, again uint64
	now               int64
}

func (h *heard) say(format string, values ...any) { fmt.Fprintf(h, format+"\n", values...) }

// shows shows each packet by its kind, and all of its bytes.
func (h *heard) shows(b []byte) {
	for len(b) > 1 {
		n := min(len(b), 2+int(b[1]))
		if b[1] > 0x7f {
			n = len(b)
		}
		kind, _, _ := strings.Cut(string(mqtt.Describe(nil, b[:n])), " ")
		h.say("-> %s %s", kind, short(hex.EncodeToString(b[:n])))
		b = b[n:]
	}
}

// writes shows what the connection writes, and lets the kernel take it.
func (h *heard) writes() {
	h.shows(h.conn.Output())
	h.conn.Sent(len(h.conn.Output()))
}

func (h *heard) do(text string) {
	words := strings.SplitN(text, " ", 4)
	var err error
	switch words[0] {
	case "forget":
		h.say("forgets %v", h.conn.Forget())
	case "leave":
		h.conn.Leave(1000, "")
	case "ping":
		h.conn.Ping(7)
	case "tick":
		h.now, err = h.conn.Tick(0)
		h.say("next %d ms", h.now/1e6)
	case "subscribe":
		err = h.conn.Subscribe(&h.again)
	case "disconnect":
		err = h.conn.Disconnect()
	default:
		qos, retain := strings.CutSuffix(words[1], "r")
		m := mqtt.Message{QoS: qos[0] - '0', Retain: retain, Topic: mqtt.Plain(words[2]), Data: mqtt.Plain(words[3])}
		if head, data, found := strings.Cut(words[3], "|"); found {
			m.Fields, m.Data = []mqtt.Field{{Name: "h", Value: mqtt.Plain(head)}}, mqtt.Plain(data)
		}
		err = h.conn.Operate(mqtt.Compile(h.version, m), mqtt.Order{Sent: &h.sent, Late: &h.late})
	}
	if err != nil {
		h.say("%v", err)
	}
	h.writes()
}

func (h *heard) Message(kind codec.MessageKind, b []byte) {
	if kind == mqtt.MessageStands {
		h.say("stands")
		return
	}
	o := h.conn.Outcome()
	if h.WriteString("message"); len(o.Topic) > 0 {
		fmt.Fprintf(h, " %q at %s", short(string(b)), o.Topic)
	}
	if len(o.Reply) > 0 {
		fmt.Fprintf(h, " reply %s", o.Reply)
	}
	for i := range o.Fields.Len() {
		name, value := o.Fields.At(i)
		fmt.Fprintf(h, " %s=%s", name, value)
	}
	if o.Retains {
		h.WriteString(" retained")
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
