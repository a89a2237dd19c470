package amqp_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/runtime/protocol/amqp"
	"hyperscale/runtime/protocol/codec"
)

func connect(t rapid.TB, c amqp.Config, frame string) *amqp.Conn {
	conn, err := begun(c, frame)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// encoded returns the frames of lines that a server says.
func encoded(t rapid.TB, lines ...string) (all []byte) {
	for _, l := range lines {
		b, err := encode(l)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b...)
	}
	return all
}

// However a consumer's messages are cut, into frames and into reads, they arrive whole, once and in order.
func TestMessagesArrive(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var said []byte
		var want strings.Builder
		for i := range rapid.IntRange(0, 20).Draw(r, "messages") {
			if rapid.IntRange(0, 3).Draw(r, "kind") == 0 {
				said = append(said, encoded(r, `raw \x08\0\0\0\0\0\0\xce`)...)
			}
			data := rapid.StringMatching(`[a-z]{0,60}`).Draw(r, "data")
			said = append(said, encoded(r, fmt.Sprintf("basic.deliver c %d %d orders new", i+1, i%2), fmt.Sprintf("header %d k=%d", len(data), i))...)
			for rest := data; len(rest) > 0; {
				n := rapid.IntRange(1, len(rest)).Draw(r, "body")
				said = append(said, amqp.EncodeBody(rest[:n])...)
				rest = rest[n:]
			}
			fmt.Fprintf(&want, "message %q from \"orders\" by \"new\" number %d content-type=text/plain k=%d", data, i+1, i)
			want.WriteString(strings.Repeat(" again", i%2) + "\n")
		}
		c := connect(r, amqp.Config{Consumer: &amqp.Consumer{Queue: "jobs"}}, "4096")
		h := heard{conn: c}
		for b := said; len(b) > 0; {
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

// Whatever messages are confirmed, given up, confirmed late, alone or together: each hears its own confirm or
// none, a late one counts once, and a message counts as sent when the kernel has it whole.
func TestConfirmsBelongToTheirMessages(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := connect(r, amqp.Config{}, "4096")
		h := heard{conn: c}
		says := func(lines ...string) {
			if err := c.Feed(encoded(r, lines...), &h); err != nil {
				r.Fatal(err)
			}
		}
		first, confirms := amqp.Publication(amqp.Message{Body: amqp.Plain("x"), Confirm: true, Priority: amqp.PriorityNone}), 0
		plain := amqp.Publication(amqp.Message{Key: amqp.Text{{Text: "svc.", Value: -1}, {Value: 0}}, Body: amqp.Plain(strings.Repeat("x", 5000)), Priority: amqp.PriorityNone})
		order := h.order()
		order.Values = [][]byte{[]byte("echo")}
		var sent, late, number uint64
		var owed []uint64 // given up, and not confirmed yet
		for range rapid.IntRange(1, 30).Draw(r, "messages") {
			o, waits := first, true
			if rapid.IntRange(0, 2).Draw(r, "plain") == 0 {
				o, waits = plain, false
			}
			if err := c.Operate(o, order); err != nil {
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
			if waits && number == 0 {
				says("confirm.select-ok")
			}
			if waits || number > 0 {
				number++
			}
			if h.Reset(); !waits {
				continue
			}
			if len(owed) > 0 && rapid.Bool().Draw(r, "late") {
				says(fmt.Sprintf("basic.ack %d 0", owed[0]))
				owed, late = owed[1:], late+1
			}
			switch rapid.IntRange(0, 2).Draw(r, "outcome") {
			case 0:
				says(fmt.Sprintf("basic.ack %d 1", number)) // with all before
				owed, late = nil, late+uint64(len(owed))
				confirms++
			case 1:
				says(fmt.Sprintf("basic.ack %d 0", number))
				confirms++
			default:
				says(`raw \x08\0\0\0\0\0\0\xce`)
				if !c.Forget() {
					r.Fatal("the connection is lost")
				}
				if owed = append(owed, number); len(owed) > 16 {
					owed = owed[1:]
				}
				continue
			}
			if h.String() != "message \"\"\n" || h.late != late {
				r.Fatalf("message %d heard %q; %d late, want %d", number, h.String(), h.late, late)
			}
		}
		if h.late != late || h.errors > 0 {
			r.Fatalf("%d confirms count as late, want %d; %d errors", h.late, late, h.errors)
		}
	})
}

// What values may not make of a short text; and nothing of such a message goes out.
func TestValuesThatCannotBeSent(t *testing.T) {
	long := []byte(strings.Repeat("x", 250))
	hole := amqp.Text{{Text: "orders.", Value: -1}, {Value: 0}}
	for name, o := range map[string]*amqp.Operation{
		"exchange": amqp.Publication(amqp.Message{Exchange: hole}), "key": amqp.Publication(amqp.Message{Key: hole}),
		"queue": amqp.Get(hole, true), "reply-to": amqp.Publication(amqp.Message{Texts: [amqp.Properties]amqp.Text{amqp.ReplyTo: hole}}),
	} {
		c := connect(t, amqp.Config{}, "4096")
		err := c.Operate(o, amqp.Order{Values: [][]byte{long}})
		if got := fmt.Sprint(err); got != "value: "+name+" has 257 bytes with its values, and AMQP takes 255: shorten it" || len(c.Output()) > 0 {
			t.Errorf("%s: got %v, and %d bytes are queued", name, err, len(c.Output()))
		}
		if err := c.Operate(o, amqp.Order{Values: [][]byte{long[:248]}}); err != nil {
			t.Errorf("%s: a text of 255 bytes: %v", name, err)
		}
	}
}

// The password stands in no error, and in nothing that a greeting shows.
func TestPasswordsAreHidden(t *testing.T) {
	p, err := amqp.New(amqp.Config{User: "app", Password: "geheim"})
	if err != nil {
		t.Fatal(err)
	}
	r, first := codec.NewRounds(p.Greet())
	wrote, _, _, err := r.Feed(first, encoded(t, "connection.start 0 9 - PLAIN en_US", "connection.close 403 refused_geheim 0 0"))
	shown := fmt.Sprint(err, string(amqp.Describe(nil, wrote)))
	if err == nil || strings.Contains(shown, "geheim") || !strings.Contains(shown, "AMQP 0.9.1; connection.start-ok") {
		t.Errorf("%s", shown)
	}
}

// quiet hears and keeps nothing.
type quiet struct{ n int }

func (q *quiet) Message(codec.MessageKind, []byte) { q.n++ }
func (q *quiet) Pong(uint64)                       {}
func (q *quiet) Leaves(uint16, string)             {}

// An operation whose answer is not read allocates nothing, once its connection is warm.
func TestOperationsAllocateNothing(t *testing.T) {
	publish := amqp.Publication(amqp.Message{Key: amqp.Plain("jobs"), Body: amqp.Plain("hello"), Confirm: true, Priority: amqp.PriorityNone})
	plain := amqp.Publication(amqp.Message{Key: amqp.Plain("jobs"), Body: amqp.Plain("hello"), Priority: amqp.PriorityNone})
	ack, got := encoded(t, "basic.ack 0 1"), encoded(t, "basic.get-ok 1 0 - jobs 3", "header 5", "body hello")
	for name, tt := range map[string]struct {
		of     *amqp.Operation
		answer []byte
	}{"publish": {plain, nil}, "confirm": {publish, ack}, "get": {amqp.Get(amqp.Plain("jobs"), false), got}} {
		c := connect(t, amqp.Config{}, "131072")
		var on quiet
		var sent uint64
		_ = c.Operate(publish, amqp.Order{})
		if c.Sent(len(c.Output())); c.Feed(encoded(t, "confirm.select-ok", "basic.ack 1 0"), &on) != nil {
			t.Fatal("broken")
		}
		order := amqp.Order{Counts: amqp.Counts{Sent: &sent}}
		allocates := testing.AllocsPerRun(200, func() {
			if c.Operate(tt.of, order) != nil {
				t.Fatal("no room")
			}
			c.Sent(len(c.Output()))
			if err := c.Feed(tt.answer, &on); err != nil {
				t.Fatal(err)
			}
			c.Sent(len(c.Output()))
		})
		if allocates > 0 {
			t.Errorf("%s: %v allocations", name, allocates)
		}
	}
}

func BenchmarkOperation(b *testing.B) {
	c := connect(b, amqp.Config{}, "131072")
	var on quiet
	o := amqp.Publication(amqp.Message{Key: amqp.Plain("jobs"), Body: amqp.Plain("hello"), Confirm: true, Priority: amqp.PriorityNone})
	_ = c.Operate(o, amqp.Order{})
	_ = c.Feed(encoded(b, "confirm.select-ok", "basic.ack 1 0"), &on)
	ack := encoded(b, "basic.ack 0 1")
	b.ReportAllocs()
	for b.Loop() {
		if c.Operate(o, amqp.Order{}) != nil {
			b.Fatal("no room")
		}
		c.Sent(len(c.Output()))
		_ = c.Feed(ack, &on)
	}
}

// Nothing that a server sends makes the codec panic, or the outcome depend on how it is cut.
func FuzzFeed(f *testing.F) {
	for _, seed := range [][]string{
		{"confirm.select-ok", "basic.ack 1 0"}, {"basic.get-ok 1 0 - jobs 3", "header 5 k=v", "body hello"}, {"exchange.declare-ok", "queue.declare-ok jobs 3 1", "queue.bind-ok"},
		{"channel.close 404 gone 60 40"}, {"connection.blocked low", "connection.unblocked"}, {"connection.close 320 forced 0 0"}, {"basic.deliver c 1 0 - jobs", "header 5", "body he", "body llo"},
		{"basic.return 312 NO_ROUTE - jobs", "header 1", "body a", "basic.nack 1 0 0"}, {"channel.flow 0", "channel.flow 1"}, {`raw \x08\0\0\0\0\0\0\xce`}, {"basic.cancel c 0"},
	} {
		f.Add(encoded(f, seed...), uint8(3), uint8(1))
	}
	f.Fuzz(func(t *testing.T, b []byte, verb, cut uint8) {
		play := func(most int) string {
			var config amqp.Config
			if verb&8 != 0 {
				config.Consumer = &amqp.Consumer{Queue: "jobs"}
			}
			c := connect(t, config, "4096")
			h := heard{conn: c}
			order := h.order()
			order.Keeps = verb&16 == 0
			_ = c.Operate([]*amqp.Operation{
				amqp.Get(amqp.Plain("jobs"), verb&32 != 0), amqp.Publication(amqp.Message{Confirm: true, Mandatory: verb&32 != 0, Priority: amqp.PriorityNone}),
				amqp.Publication(amqp.Message{Priority: amqp.PriorityNone}), amqp.Declare(amqp.Declaration{Exchange: "orders", Type: "topic", Of: amqp.DeclaresBound}),
			}[verb%4], order)
			h.shows(c.Output())
			c.Sent(c.Unsent())
			for rest := b; len(rest) > 0; {
				n := min(most, len(rest))
				if err := c.Feed(rest[:n], &h); err != nil {
					h.say("%v", err)
					break
				}
				rest = rest[n:]
			}
			h.shows(c.Output())
			h.say("%v %d %d", c.Over(), h.late, h.errors)
			return h.String()
		}
		if whole, pieces := play(len(b)+1), play(int(cut)+1); whole != pieces {
			t.Errorf("at once:\n%s\nin pieces:\n%s", whole, pieces)
		}
	})
}

// Nothing that a server says in its greeting makes the codec panic.
func FuzzGreeting(f *testing.F) {
	f.Add(start("4096", true), uint8(1))
	f.Add(start("0", false), uint8(0))
	f.Add([]byte("AMQP\x00\x01\x00\x00"), uint8(2))
	f.Fuzz(func(_ *testing.T, b []byte, how uint8) {
		c := amqp.Config{External: how&2 != 0}
		if how&1 != 0 {
			c.Consumer = &amqp.Consumer{Queue: "jobs", Auto: how&4 != 0}
		}
		p, _ := amqp.New(c)
		r, first := codec.NewRounds(p.Greet())
		_, rest, d, err := r.Feed(first, b)
		if d != nil && err == nil {
			_ = d.Feed(append([]byte(nil), rest...), &quiet{})
		}
		_ = amqp.Describe(nil, b)
	})
}
