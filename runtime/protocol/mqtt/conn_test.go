package mqtt_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/mqtt"
)

// begun returns a connection behind its greeting.
func begun(t testing.TB, c mqtt.Config) *mqtt.Conn {
	p, err := mqtt.New(c)
	if err != nil {
		t.Fatal(err)
	}
	welcome := []byte{0x20, 2, 0, 0}
	if c.Version == mqtt.Version5 {
		welcome = []byte{0x20, 3, 0, 0, 0}
	}
	_, _, d, err := greeted(p, welcome)
	if err != nil {
		t.Fatal(err)
	}
	return d.(*mqtt.Conn)
}

// ack is a packet that names an identifier.
func ack(first byte, id uint16) []byte {
	return binary.BigEndian.AppendUint16([]byte{first, 2}, id)
}

// publish is a message of the server.
func publish(flags byte, topic string, id uint16, data string) []byte {
	body := append(binary.BigEndian.AppendUint16(nil, uint16(len(topic))), topic...)
	if flags&6 != 0 {
		body = binary.BigEndian.AppendUint16(body, id)
	}
	body = append(body, data...)
	out := []byte{0x30 | flags}
	for n := len(body); ; n >>= 7 {
		if n < 0x80 {
			return append(append(out, byte(n)), body...)
		}
		out = append(out, byte(n)|0x80)
	}
}

// However a subscription's messages are cut, they come whole, in order, and those of QoS 2 once, however
// often the server sends them.
func TestMessagesArrive(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var said []byte
		var want strings.Builder
		open := map[uint16]bool{}
		again := uint64(0)
		for i := range rapid.IntRange(0, 20).Draw(r, "messages") {
			data := rapid.StringN(0, 200, 300).Draw(r, "data")
			id := uint16(rapid.IntRange(1, 3).Draw(r, "id"))
			switch qos := byte(rapid.IntRange(0, 3).Draw(r, "qos")); {
			case qos == 3:
				said = append(said, ack(0x62, id)...)
				delete(open, id)
			case qos == 2 && open[id]:
				said = append(said, publish(2<<1|8, "t", id, data)...)
				again++
			default:
				said = append(said, publish(qos<<1, fmt.Sprint("t/", i), id, data)...)
				fmt.Fprintf(&want, "message %q at t/%d\n", short(data), i)
				open[id] = open[id] || qos == 2
			}
		}
		c := begun(t, mqtt.Config{Subscription: &mqtt.Subscription{Filters: []string{"#"}, QoS: 2}})
		h := heard{conn: c}
		_ = c.Subscribe(&h.again)
		for b := said; len(b) > 0; {
			n := rapid.IntRange(1, len(b)).Draw(r, "cut")
			if err := c.Feed(b[:n], &h); err != nil {
				r.Fatal(err)
			}
			b = b[n:]
		}
		if h.String() != want.String() || h.again != again {
			r.Fatalf("%d again, want %d; got\n%s\nwant\n%s", h.again, again, h.String(), want.String())
		}
	})
}

// Whatever messages are acknowledged, given up, or acknowledged late: each ends by its own acknowledgement or
// by none, no identifier is used while the server may hold it, and a message counts as sent when the kernel
// has it whole.
func TestAcknowledgementsBelongToTheirMessages(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := begun(t, mqtt.Config{})
		h := heard{conn: c}
		var sent, late uint64
		held := map[uint16]byte{} // identifiers of messages that were given up, and their QoS
		var order []uint16
		feed := func(b []byte) {
			if err := c.Feed(b, &h); err != nil {
				r.Fatal(err)
			}
			c.Sent(len(c.Output()))
		}
		complete := func(id uint16, qos byte) {
			if qos == 1 {
				feed(ack(0x40, id))
				return
			}
			feed(ack(0x50, id))
			feed(ack(0x70, id))
		}
		for range rapid.IntRange(1, 40).Draw(r, "messages") {
			qos := byte(rapid.IntRange(1, 2).Draw(r, "qos"))
			o := mqtt.Compile(mqtt.Version311, mqtt.Message{QoS: qos, Topic: mqtt.Text{{Text: "t/", Value: -1}, {Value: 0}}, Data: mqtt.Plain("x")})
			if err := c.Operate(o, mqtt.Order{Values: [][]byte{[]byte("a")}, Sent: &h.sent, Late: &h.late}); err != nil {
				r.Fatal(err)
			}
			id := binary.BigEndian.Uint16(c.Output()[len(c.Output())-3:])
			if held[id] != 0 || id == 0 {
				r.Fatalf("identifier %d is used twice", id)
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
			if len(order) > 0 && rapid.Bool().Draw(r, "late") {
				complete(order[0], held[order[0]])
				delete(held, order[0])
				order, late = order[1:], late+1
			}
			h.Reset()
			if len(order) == 16 || rapid.Bool().Draw(r, "acknowledged") {
				if complete(id, qos); h.String() != "message\n" {
					r.Fatalf("message %d heard %q", id, h.String())
				}
			} else {
				feed([]byte{})
				if !c.Forget() {
					r.Fatal("the connection is lost")
				}
				if asks := len(c.Output()); asks > 0 {
					c.Sent(asks)
					feed([]byte{0xd0, 0})
				}
				held[id], order = qos, append(order, id)
			}
			if h.late != late {
				r.Fatalf("%d acknowledgements count as late, want %d", h.late, late)
			}
		}
	})
}

// Identifiers have 16 bits, none is 0, and one that the server may hold is left out also behind the last.
func TestIdentifiersBeginAnew(t *testing.T) {
	c := begun(t, mqtt.Config{})
	var on quiet
	o := mqtt.Compile(mqtt.Version311, mqtt.Message{QoS: 1, Topic: mqtt.Plain("t")})
	last := uint16(0)
	for i := range 1<<16 + 10 {
		if err := c.Operate(o, mqtt.Order{}); err != nil {
			t.Fatal(err)
		}
		b := c.Output()
		id := binary.BigEndian.Uint16(b[len(b)-2:])
		if want := last + 1; id != want && (last != 65535 || id != 2) {
			t.Fatalf("%d follows %d", id, last)
		}
		last = id
		c.Sent(len(b))
		if i == 0 { // the first one stays open
			c.Forget()
			c.Sent(len(c.Output()))
			_ = c.Feed([]byte{0xd0, 0}, &on)
			continue
		}
		c.Rest()
		if err := c.Feed(ack(0x40, id), &on); err != nil {
			t.Fatal(err)
		}
	}
}

// What values may not make of a topic or a header.
func TestValuesThatCannotBeSent(t *testing.T) {
	for _, tt := range []struct{ value, want string }{
		{"a b", ""},
		{"+", `value: the topic "s/+" has a wildcard, which only a subscription may have`},
		{"a\x00", `value: the topic "s/a\x00" has a zero in it`},
		{"\xff", `value: the topic "s/\xff" is not UTF-8`},
		{strings.Repeat("x", 65534), `value: the topic "s/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..." is longer than 65535 bytes`},
	} {
		c := begun(t, mqtt.Config{Version: mqtt.Version5})
		o := mqtt.Compile(mqtt.Version5, mqtt.Message{Topic: mqtt.Text{{Text: "s/", Value: -1}, {Value: 0}}})
		err := c.Operate(o, mqtt.Order{Values: [][]byte{[]byte(tt.value)}})
		if got := fmt.Sprint(err); err != nil && got != tt.want || err == nil && tt.want != "" {
			t.Errorf("%q: got %v, want %s", clipped(tt.value), err, tt.want)
		}
		if err != nil && len(c.Output()) > 0 {
			t.Errorf("%q: %q is queued", clipped(tt.value), c.Output())
		}
	}
	c := begun(t, mqtt.Config{Version: mqtt.Version5})
	o := mqtt.Compile(mqtt.Version5, mqtt.Message{Topic: mqtt.Plain("s"), Fields: []mqtt.Field{{Name: "k", Value: mqtt.Text{{Value: 0}}}}})
	if err := c.Operate(o, mqtt.Order{Values: [][]byte{{0xff}}}); err == nil || len(c.Output()) > 0 {
		t.Errorf("a value that is no text goes out: %q", c.Output())
	}
}

func clipped(s string) string { return s[:min(len(s), 20)] }

// Nothing that proves a user stands in an error or in what a greeting shows.
func TestPasswordsAreHidden(t *testing.T) {
	p, err := mqtt.New(mqtt.Config{Version: mqtt.Version5, User: "app", Password: "geheim"})
	if err != nil {
		t.Fatal(err)
	}
	wrote, _, _, err := greeted(p, []byte("\x20\x11\x00\x86\x0e\x1f\x00\x0bnot geheim!"))
	if shown := fmt.Sprint(err, string(mqtt.Describe(nil, wrote))); err == nil || !strings.Contains(shown, "not ***!") || strings.Contains(shown, "geheim") {
		t.Errorf("%s", shown)
	}
	if _, err := mqtt.New(mqtt.Config{Password: strings.Repeat("geheim", 20000)}); err == nil || strings.Contains(err.Error(), "geheim") {
		t.Errorf("%.90v", err)
	}
}

// A client identifier is free when its connection ends, whether it had a dialogue or not.
func TestClaimsAreFreed(t *testing.T) {
	p, err := mqtt.New(mqtt.Config{})
	if err != nil {
		t.Fatal(err)
	}
	claim := &mqtt.Claim{Held: true}
	r, _ := codec.NewRounds(p.Greet("me", claim))
	if r.Drop(); claim.Held {
		t.Error("a greeting that ends keeps its identifier")
	}
	claim.Held = true
	r, _ = codec.NewRounds(p.Greet("me", claim))
	_, _, d, err := r.Feed(nil, []byte{0x20, 2, 0, 0})
	if err != nil || !claim.Held {
		t.Fatalf("%v: a connection has no identifier", err)
	}
	if d.Release(); claim.Held {
		t.Error("a connection that ends keeps its identifier")
	}
}

// quiet hears and keeps nothing.
type quiet struct{ n int }

func (q *quiet) Message(codec.MessageKind, []byte) { q.n++ }
func (q *quiet) Pong(uint64)                       {}
func (q *quiet) Leaves(uint16, string)             {}

// An operation allocates nothing, once its connection is warm.
func TestOperationsAllocateNothing(t *testing.T) {
	for qos := range uint8(3) {
		c := begun(t, mqtt.Config{})
		var on quiet
		var sent, late uint64
		values := [][]byte{[]byte("17")}
		o := mqtt.Compile(mqtt.Version311, mqtt.Message{QoS: qos, Topic: mqtt.Text{{Text: "dev/", Value: -1}, {Value: 0}}, Data: mqtt.Plain("hello")})
		id := uint16(0)
		var reply []byte
		got := testing.AllocsPerRun(200, func() {
			id++
			if c.Operate(o, mqtt.Order{Values: values, Sent: &sent, Late: &late}) != nil {
				t.Fatal("no room")
			}
			c.Sent(len(c.Output()))
			for _, first := range [][]byte{nil, {0x40}, {0x50, 0x70}}[qos] {
				reply = append(reply[:0], first, 2, byte(id>>8), byte(id))
				if c.Feed(reply, &on) != nil {
					t.Fatal("broken")
				}
				c.Sent(len(c.Output()))
			}
		})
		if want := int(id); got > 0 || qos > 0 && on.n != want || late > 0 || sent != uint64(want) {
			t.Errorf("QoS %d: %v allocations, %d of %d answered", qos, got, on.n, want)
		}
	}
}

func BenchmarkOperation(b *testing.B) {
	c := begun(b, mqtt.Config{})
	var on quiet
	o := mqtt.Compile(mqtt.Version311, mqtt.Message{QoS: 1, Topic: mqtt.Plain("dev/1/t"), Data: mqtt.Plain("hello")})
	b.ReportAllocs()
	for b.Loop() {
		if c.Operate(o, mqtt.Order{}) != nil {
			b.Fatal("no room")
		}
		out := c.Output()
		reply := [4]byte{0x40, 2, out[11], out[12]}
		c.Sent(len(out))
		_ = c.Feed(reply[:], &on)
	}
}

// Nothing that a server sends makes the codec panic, and however it is cut the outcome is the same.
func FuzzFeed(f *testing.F) {
	for _, seed := range [][]byte{
		ack(0x40, 1), ack(0x50, 1), append(ack(0x50, 1), ack(0x70, 1)...), publish(0, "t", 0, "x"), publish(4|8|1, "t/u", 7, "hello"), ack(0x62, 7),
		{0x90, 3, 0, 1, 0}, {0x90, 4, 0, 1, 0, 2}, {0xb0, 2, 0, 2}, {0xd0, 0}, {0xe0, 1, 0x8e}, {0xe0, 0}, []byte("\x30\x0f\x00\x01t\x0a\x26\x00\x01k\x00\x01v\x08\x00\x00x"), {0x30, 0xff, 0xff, 0xff, 0x7f},
	} {
		f.Add(seed, uint8(1), uint8(1))
	}
	f.Fuzz(func(t *testing.T, b []byte, how, cut uint8) {
		play := func(most int) string {
			config := mqtt.Config{Version: mqtt.Version311 + mqtt.Version(how>>2&1), Resumes: how&16 != 0, KeepAlive: 30}
			if how&8 != 0 {
				config.Subscription = &mqtt.Subscription{Filters: []string{"#"}, QoS: 2}
			}
			c := begun(t, config)
			h := heard{conn: c}
			_ = c.Subscribe(&h.again)
			_ = c.Operate(mqtt.Compile(config.Version, mqtt.Message{QoS: how & 3 % 3, Topic: mqtt.Plain("a"), Data: mqtt.Plain("x")}), mqtt.Order{Late: &h.late})
			c.Sent(len(c.Output()))
			if how&32 != 0 {
				c.Forget()
			}
			for rest := b; len(rest) > 0; {
				n := min(most, len(rest))
				if err := c.Feed(rest[:n], &h); err != nil {
					h.say("%v", err)
					break
				}
				rest = rest[n:]
			}
			h.shows(bytes.Clone(c.Output()))
			_, err := c.Tick(1)
			h.say("%v %d %d %v", c.Over(), h.late, h.again, err)
			c.Leave(0, "")
			return h.String()
		}
		if whole, pieces := play(len(b)+1), play(int(cut)+1); whole != pieces {
			t.Errorf("at once:\n%s\nin pieces:\n%s", whole, pieces)
		}
	})
}

// Nothing that a server says in its greeting makes the codec panic.
func FuzzGreeting(f *testing.F) {
	for _, seed := range [][]byte{{0x20, 2, 0, 0}, {0x20, 2, 0, 5}, {0x20, 3, 0, 0, 0}, {0x20, 2, 1, 0}, []byte("\x20\x0d\x00\x00\x0a\x21\x00\x14\x24\x01\x13\x00\x05\x25\x00"), []byte("HTTP/1.1 400")} {
		f.Add(seed, uint8(0))
	}
	f.Fuzz(func(t *testing.T, b []byte, how uint8) {
		p, err := mqtt.New(mqtt.Config{Version: mqtt.Version311 + mqtt.Version(how&1), Resumes: how&2 != 0})
		if err != nil {
			t.Fatal(err)
		}
		wrote, rest, d, err := greeted(p, b)
		mqtt.Describe(nil, append(wrote, b...))
		if d != nil && err == nil {
			_ = d.Feed(append([]byte(nil), rest...), &quiet{})
		}
	})
}
