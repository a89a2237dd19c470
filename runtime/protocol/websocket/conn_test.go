package websocket_test

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/websocket"
)

// said is a message as a test sends or hears it.
type said struct {
	kind codec.MessageKind
	text string
}

// hearer keeps what it hears.
type hearer struct {
	messages []said
	pongs    []uint64
	code     uint16
	reason   string
}

func (h *hearer) Message(kind codec.MessageKind, b []byte) {
	h.messages = append(h.messages, said{kind, string(b)})
}
func (h *hearer) Pong(payload uint64)               { h.pongs = append(h.pongs, payload) }
func (h *hearer) Leaves(code uint16, reason string) { h.code, h.reason = code, reason }

// lengths are those where something changes: forms of a length, pieces, buffers.
var lengths = []int{124, 126, 128, 1 << 15, 40_000, 1<<16 - 2, 1 << 16, 100_000}

var messages = rapid.Custom(func(t *rapid.T) said {
	m := said{kind: codec.MessageKind(rapid.IntRange(0, 1).Draw(t, "kind"))}
	text := rapid.OneOf(rapid.StringN(0, 40, 150), rapid.Just(""), rapid.Map(rapid.SampledFrom(lengths), func(n int) string { return strings.Repeat("é", n)[:n&^1] }))
	if m.text = text.Draw(t, "text"); m.kind == codec.MessageBinary {
		m.text = string(rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "bytes")) + m.text
	}
	return m
})

// server writes messages as the RFCs say it, with the standard library's DEFLATE.
type server struct {
	deflate *flate.Writer // nil: no message is compressed
	out     bytes.Buffer
	fresh   bool
}

func (s *server) payload(text string) []byte {
	if s.fresh {
		s.deflate.Reset(&s.out)
	}
	s.out.Reset()
	if _, err := s.deflate.Write([]byte(text)); err != nil {
		panic(err)
	}
	if err := s.deflate.Flush(); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(bytes.Clone(s.out.Bytes()), []byte{0, 0, 0xff, 0xff})
}

// append appends a message in random fragments, with control frames between them. It notes the
// payloads of pings.
func (s *server) append(t *rapid.T, b []byte, m said, pings *[]string) []byte {
	first, payload := byte(m.kind)+1, []byte(m.text)
	if s.deflate != nil && rapid.Bool().Draw(t, "compress") {
		first, payload = first|0x40, s.payload(m.text)
	}
	for {
		n := len(payload)
		if rapid.Bool().Draw(t, "fragment") {
			n = rapid.IntRange(0, n).Draw(t, "size")
		}
		last := n == len(payload)
		if last {
			first |= 0x80
		}
		b = serverFrame(b, first, payload[:n])
		if payload, first = payload[n:], 0; last {
			return b
		}
		switch rapid.IntRange(0, 4).Draw(t, "control") {
		case 0:
			*pings = append(*pings, rapid.StringN(0, 20, 125).Draw(t, "ping"))
			b = serverFrame(b, 0x89, []byte((*pings)[len(*pings)-1]))
		case 1:
			b = serverFrame(b, 0x8a, []byte("unasked"))
		}
	}
}

// WEBSOCKET-1, DIALOGUE-1, DIALOGUE-2 and the round trip: random messages in random fragments and cuts arrive as they
// were, and every ping is answered with its payload.
func TestMessagesArrive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		offer := rapid.SampledFrom([]string{"off", "fresh", "takeover"}).Draw(t, "offer")
		s, answer := &server{}, ""
		switch offer {
		case "fresh":
			s.fresh, answer = true, freshAnswer
		case "takeover":
			answer = "permessage-deflate"
		}
		if answer != "" {
			s.deflate, _ = flate.NewWriter(&s.out, rapid.IntRange(0, 9).Draw(t, "level"))
		}
		want := rapid.SliceOfN(messages, 0, 6).Draw(t, "messages")
		var b []byte
		var pings, pongs []string
		for _, m := range want {
			b = s.append(t, b, m, &pings)
		}
		c, on := begin(t, websocket.Config{Compression: offers[offer]}, answer), &hearer{}
		for len(b) > 0 {
			n := min(rapid.IntRange(1, 1+len(b)).Draw(t, "cut"), len(b))
			piece := bytes.Clone(b[:n])
			if err := c.Feed(piece, on); err != nil {
				t.Fatal(err)
			}
			clear(piece)
			b = b[n:]
			for out := c.Output(); len(out) > 0; out = c.Output() {
				f, rest, err := cutFrame(out)
				if err != nil || f.first != 0x8a {
					t.Fatalf("no pong: %x %v", out, err)
				}
				pongs = append(pongs, string(f.payload))
				c.Sent(len(out) - len(rest))
			}
		}
		if fmt.Sprint(on.messages) != fmt.Sprint(want) || len(on.messages) != len(want) {
			t.Fatalf("got %q, want %q", on.messages, want)
		}
		if fmt.Sprintf("%q", pongs) != fmt.Sprintf("%q", pings) {
			t.Fatalf("pongs %q, want %q", pongs, pings)
		}
		if err := c.End(io.EOF); http1.KindOf(err) != http1.KindClosed {
			t.Fatalf("the end between messages: %v", err)
		}
	})
}

// sentMessages reads what a client sent, as a server does.
func sentMessages(b []byte, deflated bool) (all []said, masks map[uint32]int, err error) {
	masks = map[uint32]int{}
	for len(b) > 0 {
		f, rest, err := cutFrame(b)
		if err != nil {
			return nil, nil, err
		}
		masks[f.mask]++
		payload := f.payload
		if f.first&0x40 != 0 {
			if !deflated {
				return nil, nil, errors.New("compressed, and no extension was agreed on")
			}
			payload, err = io.ReadAll(flate.NewReader(io.MultiReader(bytes.NewReader(payload), strings.NewReader("\x00\x00\xff\xff\x01\x00\x00\xff\xff"))))
			if err != nil {
				return nil, nil, err
			}
		}
		if f.first&0xb0 != 0x80 || f.first&0xf > 2 {
			return nil, nil, fmt.Errorf("first byte %#x", f.first)
		}
		all = append(all, said{codec.MessageKind(f.first&0xf) - 1, string(payload)})
		b = rest
	}
	return all, masks, nil
}

// Messages go out as they are, prepared or not, however the kernel takes them; a count grows when
// the last byte of its message is gone, and not before. No two frames have one mask.
func TestMessagesGoOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		deflated := rapid.Bool().Draw(t, "deflated")
		config, answer := websocket.Config{}, ""
		if deflated {
			config.Compression, answer = websocket.CompressionFresh, freshAnswer
		}
		c := begin(t, config, answer)
		want := rapid.SliceOfN(messages, 1, 8).Draw(t, "messages")
		counts, ends := make([]uint64, len(want)), make([]int, len(want))
		var wire []byte
		total := 0
		check := func() {
			for i := range counts {
				if got := counts[i] == 1; counts[i] > 1 || got != (ends[i] > 0 && len(wire) >= ends[i]) {
					t.Fatalf("message %d ends at %d, %d bytes are gone: sent counts %d", i, ends[i], len(wire), counts[i])
				}
			}
			if c.Unsent() != total-len(wire) {
				t.Fatalf("%d bytes are unsent, want %d", c.Unsent(), total-len(wire))
			}
		}
		take := func(most int) {
			for range most {
				out := c.Output()
				if len(out) == 0 {
					return
				}
				n := rapid.IntRange(1, len(out)).Draw(t, "taken")
				wire = append(wire, out[:n]...)
				c.Sent(n)
				check()
			}
		}
		for i, m := range want {
			before := c.Unsent()
			if rapid.Bool().Draw(t, "prepared") {
				p, err := websocket.Prepare(m.kind, []byte(m.text), rapid.Bool().Draw(t, "for compression"))
				if err != nil {
					t.Fatal(err)
				}
				err = c.SendPrepared(p, &counts[i])
				if err != nil {
					t.Fatal(err)
				}
			} else {
				b := []byte(m.text)
				if err := c.Send(m.kind, b, &counts[i]); err != nil {
					t.Fatal(err)
				}
				clear(b) // it was copied
			}
			total += c.Unsent() - before
			ends[i] = total
			check()
			take(rapid.IntRange(0, 3).Draw(t, "writes"))
		}
		take(1 << 20)
		got, masks, err := sentMessages(wire, deflated)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) || len(masks) != len(want) {
			t.Fatalf("got %q, %v, %d masks, want %q", got, err, len(masks), want)
		}
	})
}

// A text is UTF-8 in pieces if it is at once: pieces of one message are fragments.
func TestTextInPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOf(rapid.SampledFrom([]byte("a\x00\x7f\x80\xbf\xc1\xc2\xdf\xe0\xa0\x9f\xed\xef\xf0\x90\xf4\x8f\xf5\xff"))).Draw(t, "bytes")
		c, on, opcode := begin(t, websocket.Config{}, ""), &hearer{}, byte(1)
		var err error
		for rest := all; err == nil; opcode = 0 {
			n := rapid.IntRange(0, len(rest)).Draw(t, "n")
			if last := n == len(rest); last {
				err = c.Feed(serverFrame(nil, 0x80|opcode, rest), on)
				break
			}
			err = c.Feed(serverFrame(nil, opcode, rest[:n]), on)
			rest = rest[n:]
		}
		if valid := utf8.Valid(all); (err == nil) != valid || valid && on.messages[0].text != string(all) {
			t.Fatalf("%x: got %v, %q, valid %v", all, err, on.messages, valid)
		}
	})
}

// A server that floods with pings and reads nothing costs a bounded queue; the last ping is
// answered when it reads again (RFC 6455, 5.5.3).
func TestPingsOfAServerThatReadsNothing(t *testing.T) {
	c, on := begin(t, websocket.Config{}, ""), &hearer{}
	for i := range 1000 {
		if err := c.Feed(serverFrame(nil, 0x89, fmt.Appendf(nil, "%0100d", i)), on); err != nil {
			t.Fatal(err)
		}
		if c.Unsent() > 17<<10 {
			t.Fatalf("%d bytes wait", c.Unsent())
		}
	}
	last := ""
	for out := c.Output(); len(out) > 0; out = c.Output() {
		f, rest, err := cutFrame(out)
		if err != nil {
			t.Fatal(err)
		}
		last = string(f.payload)
		c.Sent(len(out) - len(rest))
	}
	if want := fmt.Sprintf("%0100d", 999); last != want {
		t.Errorf("the last answer is to %q, want %q", last, want)
	}
}

// A connection that only listens may get pings for ever, as long as time passes; one that sends
// may, too.
func TestPingsOverTime(t *testing.T) {
	c, on := begin(t, websocket.Config{}, ""), &hearer{}
	pings := bytes.Repeat(serverFrame(nil, 0x89, nil), 1000)
	for i := range 4 {
		if err := c.Feed(pings, on); err != nil {
			t.Fatal(err)
		}
		c.Sent(len(c.Output()))
		if i%2 == 0 {
			c.Rest()
		} else if err := c.Send(codec.MessageText, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Feed(bytes.Repeat(serverFrame(nil, 0x89, nil), 1025), on); http1.KindOf(err) != http1.KindFlood {
		t.Errorf("a flood: %v", err)
	}
}

// An answer answers the pings before it, too; one that is too late is dropped.
func TestAnswersToPings(t *testing.T) {
	c, on := begin(t, websocket.Config{}, ""), &hearer{}
	pong := func(n byte) {
		if err := c.Feed(serverFrame(nil, 0x8a, []byte{0, 0, 0, 0, 0, 0, 0, n}), on); err != nil {
			t.Fatal(err)
		}
	}
	for n := range uint64(6) {
		c.Ping(n)
	}
	for _, n := range []byte{1, 3, 2, 3, 5, 4} {
		pong(n)
	}
	if got := fmt.Sprint(on.pongs); got != "[3 5]" {
		t.Errorf("got the answers %s, want those to 3 and 5: four pings wait", got)
	}
}

// WEBSOCKET-2: a length reserves no memory (DIALOGUE-4), and a bomb stops at the limit.
func TestMemoryIsBounded(t *testing.T) {
	huge := begin(t, websocket.Config{MessageMax: 1 << 62}, "")
	if err := huge.Feed([]byte("\x82\x7f\x40\x00\x00\x00\x00\x00\x00\x00x"), &hearer{}); err != nil {
		t.Errorf("a length of 2^62, and one byte: %v", err)
	}
	var bomb bytes.Buffer
	w, _ := flate.NewWriter(&bomb, 9)
	for range 1 << 10 {
		if _, err := w.Write(make([]byte, 1<<16)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	c := begin(t, websocket.Config{Compression: websocket.CompressionFresh, MessageMax: 1 << 20}, freshAnswer)
	err := c.Feed(serverFrame(nil, 0xc2, bytes.TrimSuffix(bomb.Bytes(), []byte{0, 0, 0xff, 0xff})), &hearer{})
	if http1.KindOf(err) != http1.KindBomb || !strings.Contains(err.Error(), "more than 1048576") {
		t.Errorf("a bomb of %d bytes: %v", bomb.Len(), err)
	}
}

// DIALOGUE-3: after a goodbye, a breach or the release nothing can be sent. A text must be one.
func TestWhatCannotBeSent(t *testing.T) {
	c := begin(t, websocket.Config{}, "")
	p, err := websocket.Prepare(codec.MessageText, []byte("x"), true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := websocket.Prepare(codec.MessageText, []byte("\xff"), true); http1.KindOf(err) != http1.KindValue {
		t.Errorf("prepared bytes as a text: %v", err)
	}
	if err := c.Send(codec.MessageText, []byte("\xff"), nil); http1.KindOf(err) != http1.KindValue || c.Unsent() > 0 {
		t.Errorf("bytes as a text: %v", err)
	}
	ways := map[string]func(*websocket.Conn){
		"our goodbye":          func(c *websocket.Conn) { c.Leave(1000, "") },
		"the server's goodbye": func(c *websocket.Conn) { _ = c.Feed(serverFrame(nil, 0x88, nil), &hearer{}) },
		"a breach":             func(c *websocket.Conn) { _ = c.Feed([]byte{0xff, 0}, &hearer{}) },
		"the release":          func(c *websocket.Conn) { c.Release() },
	}
	//lint:orderfree each is a test of its own
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			c := begin(t, websocket.Config{}, "")
			way(c)
			out := string(c.Output())
			c.Ping(1)
			c.Leave(1001, "again")
			err := c.Send(codec.MessageText, []byte("x"), nil)
			if http1.KindOf(err) != http1.KindClosed || http1.KindOf(c.SendPrepared(p, nil)) != http1.KindClosed || string(c.Output()) != out {
				t.Errorf("%v, %x, want %x", err, c.Output(), out)
			}
		})
	}
}

// A goodbye's reason is cut where a rune ends.
func TestLongReasons(t *testing.T) {
	c := begin(t, websocket.Config{}, "")
	c.Leave(4000, strings.Repeat("é", 100))
	f, _, err := cutFrame(c.Output())
	if err != nil || string(f.payload) != "\x0f\xa0"+strings.Repeat("é", 61) {
		t.Errorf("%q %v", f.payload, err)
	}
	if c.Over() {
		t.Error("it is over before the server's goodbye")
	}
	c.Sent(len(c.Output()))
	if err := c.Feed(serverFrame(nil, 0x88, []byte("\x0f\xa0")), &hearer{}); err != nil || !c.Over() {
		t.Errorf("it is not over: %v", err)
	}
}

// The connection is over when the answer to the server's goodbye is written, not before.
func TestOver(t *testing.T) {
	c, on := begin(t, websocket.Config{}, ""), &hearer{}
	if err := c.Feed(serverFrame(nil, 0x88, []byte("\x03\xe9bye")), on); err != nil || on.code != 1001 || on.reason != "bye" {
		t.Fatalf("%d %q %v", on.code, on.reason, err)
	}
	if c.Over() {
		t.Error("it is over before our goodbye is written")
	}
	c.Sent(len(c.Output()) - 1)
	if c.Over() {
		t.Error("it is over before the last byte of our goodbye is written")
	}
	c.Sent(1)
	if !c.Over() || c.End(errors.New("reset")) != nil {
		t.Error("it is not over")
	}
}

// One upgrade serves connection after connection, with a key for each and nothing of the last.
func TestUpgradeAgain(t *testing.T) {
	p, err := websocket.New(websocket.Config{Compression: websocket.CompressionTakeover})
	if err != nil {
		t.Fatal(err)
	}
	u := p.Upgrade()
	for range 2 {
		if !bytes.Contains(u.AppendFields(nil, sampleRandom), []byte("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n")) {
			t.Fatal("another key")
		}
		d, err := u.Begin(101, fields{{"Upgrade", "websocket"}, {"Connection", "Upgrade"}, {"Sec-WebSocket-Accept", sampleAccept}, {"Sec-WebSocket-Extensions", "permessage-deflate"}}, counting())
		if err != nil {
			t.Fatal(err)
		}
		on := &hearer{}
		hello, _ := unhex("<c1 f2 48 cd c9 c9 07 00> <41 f2> <89> 81")
		if err := d.Feed(hello, on); err != nil || len(on.messages) != 1 || d.Unsent() != 6 {
			t.Fatalf("%v %v", on.messages, err)
		}
		if err := d.Send(codec.MessageText, []byte("x"), nil); err != nil {
			t.Fatal(err)
		}
	}
	d, err := u.Begin(101, fields{{"Upgrade", "websocket"}, {"Connection", "Upgrade"}, {"Sec-WebSocket-Accept", sampleAccept}, {"Sec-WebSocket-Extensions", "permessage-deflate"}}, counting())
	if err != nil {
		t.Fatal(err)
	}
	again, _ := unhex("<c1 f2 00 11 00 00>")
	if err := d.Feed(again, &hearer{}); http1.KindOf(err) != http1.KindEncoding || len(d.Output()) == 0 {
		t.Errorf("the last connection's context is there: %v", err)
	}
	u.AppendFields(nil, [16]byte{1})
	if _, err := u.Begin(101, fields{{"Upgrade", "websocket"}, {"Connection", "Upgrade"}, {"Sec-WebSocket-Accept", sampleAccept}}, counting()); http1.KindOf(err) != http1.KindProtocol {
		t.Errorf("the answer to the last key is taken: %v", err)
	}
}

func TestLeft(t *testing.T) {
	for _, test := range []struct {
		code   uint16
		reason string
		want   string
	}{
		{1000, "", "server 1000: the server said goodbye with 1000 (normal closure)"},
		{1011, "no database", `server 1011: the server said goodbye with 1011 (internal error): "no database"`},
		{4000, "", "server 4000: the server said goodbye with 4000"},
		{websocket.CodeNone, "", "closed: the server said goodbye without a code before its answer"},
	} {
		if got := websocket.Left(test.code, test.reason); got.Error() != test.want {
			t.Errorf("%d: got %q, want %q", test.code, got, test.want)
		}
	}
}

func TestInputs(t *testing.T) {
	for _, test := range []struct{ url, want string }{
		{"ws://h/x?y=z", "http://h/x?y=z"},
		{"WSS://h", "https://h"},
		{"http://h", `url = "http://h": begin it with ws:// or wss://`},
		{"h", `url = "h": begin it with ws:// or wss://`},
		{"ws://h/#top", `url = "ws://h/#top": leave out the fragment: WebSocket has none`},
	} {
		got, err := websocket.Address(test.url)
		if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s: got %q, want %q", test.url, got, test.want)
		}
	}
	for _, name := range []string{"Upgrade", "connection", "Sec-WebSocket-Key", "sec-websocket-protocol"} {
		if !websocket.Reserved(name) {
			t.Errorf("%s is not reserved", name)
		}
	}
	if websocket.Reserved("Origin") || websocket.Reserved("Cookie") {
		t.Error("a user may not set Origin or Cookie")
	}
}

// An idle connection holds nothing of the pool: one buffer of each kind serves all (WEBSOCKET-3).
func TestIdleConnectionsShareMemory(t *testing.T) {
	pool := &websocket.Pool{}
	var conns []*websocket.Conn
	for range 50 {
		conns = append(conns, begin(t, websocket.Config{Pool: pool, Compression: websocket.CompressionFresh}, freshAnswer))
	}
	for _, c := range conns {
		before, _ := pool.Idle()
		if err := c.Send(codec.MessageText, []byte("hello"), nil); err != nil {
			t.Fatal(err)
		}
		c.Sent(len(c.Output()))
		if after, _ := pool.Idle(); after < max(before, 1) {
			t.Fatalf("%d buffers are idle, %d were before the message that is gone", after, before)
		}
	}
	s := &server{fresh: true}
	s.deflate, _ = flate.NewWriter(&s.out, 6)
	frame := serverFrame(nil, 0xc1, s.payload(strings.Repeat("hello ", 1000)))
	round := func() {
		for _, c := range conns {
			if err := c.Send(codec.MessageText, []byte(strings.Repeat("hello ", 1000)), nil); err != nil {
				t.Fatal(err)
			}
			c.Sent(len(c.Output()))
			if err := c.Feed(frame[:20], &hearer{}); err != nil {
				t.Fatal(err)
			}
			if err := c.Feed(frame[20:], &hearer{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	round()
	if buffers, inflaters := pool.Idle(); buffers > 12 || inflaters != 1 {
		t.Errorf("%d buffers and %d inflaters served one connection after the other", buffers, inflaters)
	}
	if err := conns[0].Feed(frame[:20], &hearer{}); err != nil {
		t.Fatal(err)
	}
	before, _ := pool.Idle()
	conns[0].Release()
	if after, _ := pool.Idle(); after != before+1 {
		t.Errorf("%d buffers after the release, %d before", after, before)
	}
}

// deaf hears nothing.
type deaf struct{ n int }

func (d *deaf) Message(codec.MessageKind, []byte) { d.n++ }
func (d *deaf) Pong(uint64)                       { d.n++ }
func (d *deaf) Leaves(uint16, string)             { d.n++ }

// exchange is a steady state: a message out, one in.
type exchange struct {
	*websocket.Conn
	prepared *websocket.Prepared
	text     []byte
	in       []byte
	cut      int
	on       deaf
	sent     uint64
}

func newExchange(tb testing.TB, size int, compressed, cut bool) *exchange {
	config, answer := websocket.Config{}, ""
	if compressed {
		config.Compression, answer = websocket.CompressionFresh, freshAnswer
	}
	x := &exchange{Conn: begin(tb, config, answer), text: []byte(strings.Repeat("abcdefgh", size/8+1)[:size])}
	var err error
	if x.prepared, err = websocket.Prepare(codec.MessageText, x.text, compressed); err != nil {
		tb.Fatal(err)
	}
	x.in = serverFrame(nil, 0x81, x.text)
	if compressed {
		s := &server{fresh: true}
		s.deflate, _ = flate.NewWriter(&s.out, 6)
		x.in = serverFrame(nil, 0xc1, s.payload(string(x.text)))
	}
	if x.cut = len(x.in); cut {
		x.cut = 1 + len(x.in)/3
	}
	return x
}

func (x *exchange) run(prepared bool) error {
	var err error
	if prepared {
		err = x.SendPrepared(x.prepared, &x.sent)
	} else {
		err = x.Send(codec.MessageText, x.text, &x.sent)
	}
	for out := x.Output(); len(out) > 0; out = x.Output() {
		x.Sent(len(out))
	}
	for b := x.in; len(b) > 0 && err == nil; {
		n := min(x.cut, len(b))
		err = x.Feed(b[:n], &x.on)
		b = b[n:]
	}
	return err
}

// each plays every path of the steady state.
func exchanges(play func(name string, x func(testing.TB) *exchange, prepared bool)) {
	for _, size := range []int{16, 1 << 10, 100 << 10} {
		for _, compressed := range []bool{false, true} {
			for _, cut := range []bool{false, true} {
				for _, prepared := range []bool{true, false} {
					name := fmt.Sprintf("%d bytes, compressed %v, cut %v, prepared %v", size, compressed, cut, prepared)
					play(name, func(tb testing.TB) *exchange { return newExchange(tb, size, compressed, cut) }, prepared)
				}
			}
		}
	}
}

// poolsDrop says that the library that compresses allocates at random.
var poolsDrop bool

// WEBSOCKET-4.
func TestExchangesAllocateNothing(t *testing.T) {
	exchanges(func(name string, make func(testing.TB) *exchange, prepared bool) {
		x := make(t)
		n := testing.AllocsPerRun(20, func() {
			if err := x.run(prepared); err != nil {
				t.Fatal(err)
			}
		})
		if n > 0 && !(poolsDrop && !prepared) {
			t.Errorf("%s: %v allocations", name, n)
		}
		if x.sent != uint64(x.on.n) {
			t.Errorf("%s: %d sent, %d received", name, x.sent, x.on.n)
		}
	})
}

func BenchmarkExchange(b *testing.B) {
	exchanges(func(name string, make func(testing.TB) *exchange, prepared bool) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			x := make(b)
			for b.Loop() {
				if err := x.run(prepared); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(len(x.text)))
		})
	})
}

// FuzzFeed feeds any bytes, at once and in pieces: no panic, the same outcome, no message beyond
// the limit.
func FuzzFeed(f *testing.F) {
	for _, seed := range []string{
		"<81 \"Hello\">", "<01 \"a\"> <89 \"p\"> <80 \"b\">", "<c1 f2 48 cd c9 c9 07 00>*2", "<c1 f2 00 11 00 00>", "<88 03 e8 \"x\"> ff",
		"81 7f 00*7 7e", "<41 f2 48 cd> <80 c9 c9 07 00>", "<c1 f3 48 cd c9 c9 07 00 f2 00 11 00 00>", "<01 e2> <80 82 ac>", "<8a 00*7 07>", "89 80 01 02 03 04",
	} {
		b, err := unhex(seed)
		if err != nil {
			f.Fatal(err)
		}
		for offer := range uint8(3) {
			f.Add(b, offer, uint8(1))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, offer, cut uint8) {
		const limit = 1 << 12
		config, answer := websocket.Config{Compression: websocket.Compression(offer % 3), MessageMax: limit}, ""
		if offer%3 > 0 {
			answer = [...]string{freshAnswer, "permessage-deflate"}[offer%3-1]
		}
		play := func(n int) string {
			c, on := begin(t, config, answer), &hearer{}
			c.Ping(7)
			var err error
			rest := b
			for len(rest) > 0 && err == nil {
				piece := bytes.Clone(rest[:min(n, len(rest))])
				rest = rest[len(piece):]
				err = c.Feed(piece, on)
				clear(piece)
				c.Sent(len(c.Output()))
			}
			if err == nil {
				err = c.End(io.EOF)
			}
			for _, m := range on.messages {
				if len(m.text) > limit || m.kind == codec.MessageText && !utf8.ValidString(m.text) {
					t.Fatalf("a message of %d bytes", len(m.text))
				}
			}
			if err != nil && http1.KindOf(err) == http1.KindOther {
				t.Fatalf("%v has no kind", err)
			}
			return fmt.Sprintf("%q %d %d %q %v", on.messages, on.pongs, on.code, on.reason, err)
		}
		if whole, pieces := play(len(b)), play(int(max(cut, 1))); whole != pieces {
			t.Fatalf("whole: %s\nin pieces of %d: %s", whole, cut, pieces)
		}
	})
}

// Masks XOR as RFC 6455, 5.3 says it, from wherever a payload is cut: TestMessagesGoOut reads
// them byte by byte. Here all lengths around the widths of the loop.
func TestMasks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 80 {
		payload := make([]byte, n)
		for i := range payload {
			payload[i] = byte(r.Uint32())
		}
		c := begin(t, websocket.Config{}, "")
		if err := c.Send(codec.MessageBinary, payload, nil); err != nil {
			t.Fatal(err)
		}
		if f, _, err := cutFrame(c.Output()); err != nil || !bytes.Equal(f.payload, payload) {
			t.Errorf("%d bytes: got %x, want %x, %v", n, f.payload, payload, err)
		}
	}
}
