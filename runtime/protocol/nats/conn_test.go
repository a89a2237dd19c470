package nats_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/nats"
)

const inbox = "_INBOX.AAAAAAAAAAAAAAAA."

// begun returns a connection behind its greeting.
func begun(t testing.TB, c nats.Config) *nats.Conn {
	p, err := nats.New(c)
	if err != nil {
		t.Fatal(err)
	}
	_, _, d, err := greeted(p, `INFO {"headers":true,"max_payload":1048576}`+"\r\nPONG\r\n")
	if err != nil {
		t.Fatal(err)
	}
	return d.(*nats.Conn)
}

// However a subscription's messages are cut, they come whole, once and in order.
func TestMessagesArrive(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var bytes, want strings.Builder
		for range rapid.IntRange(0, 20).Draw(r, "messages") {
			switch rapid.IntRange(0, 3).Draw(r, "kind") {
			case 0:
				bytes.WriteString("PING\r\n")
			case 1:
				head := "NATS/1.0\r\nk: v\r\n\r\n"
				data := rapid.StringN(0, 30, 60).Draw(r, "data")
				fmt.Fprintf(&bytes, "HMSG orders.x 1 back %d %d\r\n%s%s\r\n", len(head), len(head)+len(data), head, data)
				fmt.Fprintf(&want, "message %q at orders.x reply back k=v\n", data)
			default:
				data := rapid.StringN(0, 90, 150).Draw(r, "data")
				fmt.Fprintf(&bytes, "MSG orders.y 1 %d\r\n%s\r\n", len(data), data)
				fmt.Fprintf(&want, "message %q at orders.y\n", data)
			}
		}
		c := begun(t, nats.Config{Subscription: &nats.Subscription{Subject: "orders.>"}})
		h := heard{conn: c}
		for b := []byte(bytes.String()); len(b) > 0; {
			n := rapid.IntRange(1, len(b)).Draw(r, "cut")
			if err := c.Feed(b[:n], &h); err != nil {
				r.Fatal(err)
			}
			b = b[n:]
		}
		if h.String() != want.String() {
			r.Fatalf("got\n%s\nwant\n%s", h.String(), want.String())
		}
	})
}

// Whatever requests are answered, given up, or answered late: each gets its own reply or none, a late one
// counts once, and a message counts as sent when the kernel has it whole.
func TestRepliesBelongToTheirRequests(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := begun(t, nats.Config{})
		h := heard{conn: c}
		var sent, late, next uint64
		var owed []uint64 // requests that were given up and have no reply yet
		reply := func(n uint64) {
			data := fmt.Sprint("reply ", n)
			if err := c.Feed(fmt.Appendf(nil, "MSG %s%d 1 %d\r\n%s\r\nPING\r\n", inbox, n, len(data), data), &h); err != nil {
				r.Fatal(err)
			}
		}
		for range rapid.IntRange(1, 30).Draw(r, "requests") {
			next++
			o := nats.Compile(nats.Message{Verb: nats.Request, Subject: nats.Text{{Text: "svc.", Value: -1}, {Value: 0}}, Data: nats.Plain("x")})
			if err := c.Operate(o, nats.Order{Values: [][]byte{[]byte("echo")}, Keeps: true, Sent: &h.sent, Late: &h.late}); err != nil {
				r.Fatal(err)
			}
			for len(c.Output()) > 0 {
				if h.sent != sent {
					r.Fatalf("%d count as sent, and one is not", h.sent)
				}
				c.Sent(rapid.IntRange(1, len(c.Output())).Draw(r, "written"))
			}
			if sent++; h.sent != sent {
				r.Fatalf("%d of %d count as sent", h.sent, sent)
			}
			if len(owed) > 0 && rapid.Bool().Draw(r, "late") {
				reply(owed[0])
				owed, late = owed[1:], late+1
			}
			h.Reset()
			if rapid.Bool().Draw(r, "answered") {
				if reply(next); h.String() != fmt.Sprintf("message \"reply %d\"\n", next) {
					r.Fatalf("request %d heard %q", next, h.String())
				}
			} else {
				_ = c.Feed([]byte("PING\r\n"), &h)
				c.Sent(len(c.Output()))
				if !c.Forget() {
					r.Fatal("the connection is lost")
				}
				owed = append(owed, next)
			}
			c.Sent(len(c.Output()))
			if h.late != late {
				r.Fatalf("%d answers count as late, want %d", h.late, late)
			}
		}
	})
}

// What values may not make of a subject or a header.
func TestValuesThatCannotBeSent(t *testing.T) {
	for _, tt := range []struct{ value, want string }{
		{"a b", `value: the subject "s.a b" has a blank in it`},
		{"a\r\nPING", `value: the subject "s.a\r\nPING" has a blank in it`},
		{"", `value: the subject "s." has an empty word between its dots`},
		{"*", `value: the subject "s.*" has the wildcard *, which only a subscription may have`},
		{strings.Repeat("x", 80), ""},
	} {
		c := begun(t, nats.Config{})
		o := nats.Compile(nats.Message{Verb: nats.Flush, Subject: nats.Text{{Text: "s.", Value: -1}, {Value: 0}}})
		err := c.Operate(o, nats.Order{Values: [][]byte{[]byte(tt.value)}})
		if got := fmt.Sprint(err); err != nil && got != tt.want || err == nil && tt.want != "" {
			t.Errorf("%q: got %v, want %s", tt.value, err, tt.want)
		}
		if err != nil && len(c.Output()) > 0 {
			t.Errorf("%q: %q is queued", tt.value, c.Output())
		}
	}
	c := begun(t, nats.Config{})
	o := nats.Compile(nats.Message{Subject: nats.Plain("s"), Header: []nats.Field{{Name: "k", Value: nats.Text{{Value: 0}}}}})
	if err := c.Operate(o, nats.Order{Values: [][]byte{[]byte("a\r\nb: c")}}); err == nil || len(c.Output()) > 0 {
		t.Errorf("a value with a line break goes out: %q", c.Output())
	}
}

// Nothing that proves a user stands in an error or in what a greeting shows.
func TestProofsAreHidden(t *testing.T) {
	for _, c := range []nats.Config{{User: "app", Password: "geheim"}, {Token: "geheim"}} {
		p, err := nats.New(c)
		if err != nil {
			t.Fatal(err)
		}
		wrote, _, _, err := greeted(p, "INFO {}\r\n-ERR 'Authorization Violation of geheim'\r\n")
		if shown := fmt.Sprint(err, string(nats.Describe(nil, wrote))); err == nil || strings.Contains(shown, "geheim") {
			t.Errorf("%s", shown)
		}
	}
	for _, c := range []nats.Config{{Seed: "SUgeheim"}, {Credentials: "-----BEGIN NATS USER JWT-----\ngeheim\n------END NATS USER JWT------"}} {
		if _, err := nats.New(c); err == nil || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%v", err)
		}
	}
}

// quiet hears and keeps nothing.
type quiet struct{ n int }

func (q *quiet) Message(codec.MessageKind, []byte) { q.n++ }
func (q *quiet) Pong(uint64)                       {}
func (q *quiet) Leaves(uint16, string)             {}

// An operation whose answer is not read allocates nothing, once its connection is warm.
func TestOperationsAllocateNothing(t *testing.T) {
	c := begun(t, nats.Config{})
	var on quiet
	var sent, late uint64
	o := nats.Compile(nats.Message{Verb: nats.Request, Subject: nats.Plain("svc.echo"), Data: nats.Plain("hello")})
	number := uint64(0)
	var reply []byte
	got := testing.AllocsPerRun(200, func() {
		number++
		if c.Operate(o, nats.Order{Sent: &sent, Late: &late}) != nil {
			t.Fatal("no room")
		}
		c.Sent(len(c.Output()))
		reply = fmt.Appendf(reply[:0], "MSG %s%d 1 2\r\nhi\r\n", inbox, number)
		if c.Feed(reply, &on) != nil {
			t.Fatal("broken")
		}
	})
	if got > 2 || on.n != int(number) || late > 0 { // the two are the test's own
		t.Errorf("%v allocations, %d of %d answered", got, on.n, number)
	}
}

func BenchmarkOperation(b *testing.B) {
	c := begun(b, nats.Config{})
	var on quiet
	o := nats.Compile(nats.Message{Verb: nats.Flush, Subject: nats.Plain("svc.echo"), Data: nats.Plain("hello")})
	b.ReportAllocs()
	for b.Loop() {
		if c.Operate(o, nats.Order{}) != nil {
			b.Fatal("no room")
		}
		c.Sent(len(c.Output()))
		_ = c.Feed([]byte("PONG\r\n"), &on)
	}
}

// Nothing that a server sends makes the codec panic, or keep more than what came.
func FuzzFeed(f *testing.F) {
	for _, seed := range []string{
		"MSG " + inbox + "1 1 2\r\nhi\r\n", "HMSG " + inbox + "1 1 b 16 16\r\nNATS/1.0 503\r\n\r\n\r\n", "PING\r\nPONG\r\n+OK\r\n", "-ERR 'Permissions Violation for Publish to \"a\"'\r\n",
		"INFO {\"max_payload\":7}\r\n", "MSG a 1 99999999\r\nx", "MSG " + inbox + "1 1 27\r\n{\"stream\":\"ORDERS\",\"seq\":1}\r\n",
	} {
		f.Add([]byte(seed), uint8(3), uint8(1))
	}
	for _, seed := range []string{
		"MSG a 1 $JS.ACK.ORDERS.c.1.2.3.4.5 2\r\nhi\r\n", "HMSG " + inbox + "1 1 32 32\r\nNATS/1.0 408 Request Timeout\r\n\r\n\r\n", "HMSG " + inbox + "1 1 34 34\r\nNATS/1.0 409 Leadership Change\r\n\r\n\r\n",
		"MSG a 1 $JS.ACK.hub.acc.ORDERS.c.2.2.3.4.5.r 0\r\n\r\n",
	} {
		f.Add([]byte(seed), uint8(16), uint8(1))
	}
	f.Fuzz(func(t *testing.T, b []byte, verb, cut uint8) {
		play := func(most int) string {
			var config nats.Config
			if verb&8 != 0 {
				config.Subscription = &nats.Subscription{Subject: ">"}
			}
			c := begun(t, config)
			h := &heard{conn: c}
			if verb&16 != 0 {
				c, h = consulted(t)
			}
			_ = c.Operate(nats.Compile(nats.Message{Verb: nats.Verb(verb % 4), Subject: nats.Plain("a"), Data: nats.Plain("x")}), nats.Order{Keeps: true, Late: &h.late, Errors: &h.errors})
			for rest := b; len(rest) > 0; {
				n := min(most, len(rest))
				if err := c.Feed(rest[:n], h); err != nil {
					h.say("%v", err)
					break
				}
				rest = rest[n:]
			}
			h.say("%v %d %d", c.Over(), h.late, h.errors)
			if before := len(c.Output()); h.reply != "" && verb&16 != 0 && c.Settle(h.reply, nats.Ack, 0) && bytes.Count(c.Output()[before:], []byte("\n")) != 2 {
				t.Errorf("%q settles by %q", h.reply, c.Output()[before:])
			}
			return h.String()
		}
		if whole, pieces := play(len(b)+1), play(int(cut)+1); whole != pieces {
			t.Errorf("at once:\n%s\nin pieces:\n%s", whole, pieces)
		}
	})
}

// consulted returns a connection to the consumer c of ORDERS, with a request for two messages.
func consulted(t testing.TB) (*nats.Conn, *heard) {
	c := begun(t, nats.Config{Consumer: &nats.Consumer{Stream: "ORDERS", Name: "c", Batch: 2, Within: time.Second}})
	h := &heard{conn: c}
	c.Consult(&h.late)
	if err := c.Feed([]byte("MSG "+inbox+"0 1 24\r\n{\"name\":\"c\",\"config\":{}}\r\n"), h); err != nil || !c.Pull() {
		t.Fatal(err)
	}
	return c, h
}

// Nothing that a server says in its greeting makes the codec panic.
func FuzzGreeting(f *testing.F) {
	for _, seed := range []string{"INFO {\"nonce\":\"x\",\"headers\":true}\r\nPONG\r\n", "INFO {\"tls_required\":true}\r\n", "-ERR 'x'\r\n", "INFO {}\r\nMSG a 1 1\r\nx\r\n"} {
		f.Add([]byte(seed), uint8(0))
	}
	f.Fuzz(func(t *testing.T, b []byte, how uint8) {
		c := nats.Config{TLS: how&1 != 0}
		if how&2 != 0 {
			c.Subscription = &nats.Subscription{Subject: ">"}
		}
		if how&4 != 0 {
			c.Seed = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY"
		}
		p, err := nats.New(c)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, d, err := greeted(p, string(b))
		if d != nil && err == nil {
			_ = d.Feed(append([]byte(nil), rest...), &quiet{})
		}
	})
}
