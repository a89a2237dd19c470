package codec_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/codec/codectest"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/http2"
)

// subject is a codec with a server that answers it.
type subject struct {
	codec.Protocol
	greeting []byte                           // the server's first bytes
	answer   func(b []byte, id uint32) []byte // appends a whole answer of two bytes
	many     int                              // operations at once, at least
}

var subjects = map[string]subject{
	"http2": {
		Protocol: &http2.Protocol{Streams: 8}, greeting: frame(nil, 4, 0, 0, ""), many: 8,
		answer: func(b []byte, id uint32) []byte { return frame(frame(b, 1, 4, id, "\x88"), 0, 1, id, "ok") },
	},
	"one request at a time": {
		Protocol: codectest.Ordered{}, many: 1,
		answer: func(b []byte, _ uint32) []byte { return append(b, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"...) },
	},
}

// frame appends a frame of HTTP/2.
func frame(b []byte, kind, flags byte, stream uint32, payload string) []byte {
	b = append(b, 0, 0, byte(len(payload)), kind, flags)
	return append(binary.BigEndian.AppendUint32(b, stream), payload...)
}

// journal records a handler's events, pieces of one body as their sum.
type journal struct {
	lines []string
	ends  map[uint64]int
	body  map[uint64]int
}

func newJournal() *journal { return &journal{ends: map[uint64]int{}, body: map[uint64]int{}} }

func (j *journal) Begins(tag uint64) *http1.Collector { j.note("begins", tag); return nil }
func (j *journal) Head(tag uint64, status int)        { j.note(fmt.Sprint(status), tag) }
func (j *journal) Body(tag uint64, b []byte)          { j.body[tag] += len(b) }
func (j *journal) Done(tag uint64)                    { j.ends[tag]++; j.note("done", tag) }
func (j *journal) Failed(tag uint64, err error) {
	j.ends[tag]++
	j.note("failed "+string(http1.KindOf(err)), tag)
}

func (j *journal) note(what string, tag uint64) {
	j.lines = append(j.lines, fmt.Sprintf("%d %s %d", tag, what, j.body[tag]))
}

// run is a connection with what became of it.
type run struct {
	codec.Conn
	on   *journal
	op   codec.Operation
	sent []uint64 // by tag
	ids  []uint32
}

func begin(t *rapid.T, s subject) *run {
	call, err := http1.Request{Method: "POST", URL: "http://h/", Body: []byte("body")}.Compile()
	if err != nil {
		t.Fatal(err)
	}
	r := &run{Conn: s.Begin(nil, &http1.Common{}), on: newJournal(), sent: make([]uint64, 64)}
	s.Compile(&r.op, &call)
	if err := r.Feed(s.greeting, r.on); err != nil {
		t.Fatal(err)
	}
	return r
}

// open opens as many operations as there is room for.
func (r *run) open(most int) {
	for len(r.ids) < most && r.CanOpen() {
		tag := uint64(len(r.ids))
		r.ids = append(r.ids, r.Open(&r.op, tag, &r.sent[tag]))
	}
}

// write lets the kernel take all in pieces.
func (r *run) write(t *rapid.T, most int) {
	for len(r.Output()) > 0 {
		r.Sent(rapid.IntRange(1, min(most, len(r.Output()))).Draw(t, "sent"))
		r.Taken()
	}
}

func (r *run) feed(t *rapid.T, b []byte, cut bool) error {
	for len(b) > 0 {
		n := len(b)
		if cut {
			n = rapid.IntRange(1, n).Draw(t, "cut")
		}
		if err := r.Feed(slices.Clone(b[:n]), r.on); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// each plays a property for every codec.
func each(t *testing.T, property func(*rapid.T, subject)) {
	//lint:orderfree each is a test of its own
	for name, s := range subjects {
		t.Run(name, func(t *testing.T) { rapid.Check(t, func(t *rapid.T) { property(t, s) }) })
	}
}

// CODEC-1, CODEC-2 and CODEC-3, of operations that all are answered.
func TestAnswers(t *testing.T) {
	each(t, func(t *rapid.T, s subject) {
		whole, cut := begin(t, s), begin(t, s)
		for _, r := range []*run{whole, cut} {
			r.open(s.many)
			if len(r.ids) != s.many || r.Count() != s.many || len(r.AppendTags(nil)) != s.many || r.CanOpen() {
				t.Fatalf("got %d open of %d", r.Count(), s.many)
			}
			if len(r.Output()) == 0 || !r.Sending(r.ids[0]) || r.sent[0] != 0 {
				t.Fatal("what was opened is not to be written")
			}
			r.write(t, 50)
			if r.Sending(r.ids[0]) {
				t.Fatal("what was written is said to be under way")
			}
		}
		var answers []byte
		for _, at := range rapid.Permutation(whole.ids).Draw(t, "order") {
			answers = s.answer(answers, at)
		}
		if err := whole.feed(t, answers, false); err != nil {
			t.Fatal(err)
		}
		if err := cut.feed(t, answers, true); err != nil || !slices.Equal(cut.on.lines, whole.on.lines) {
			t.Fatalf("cut: got %v, %q, want %q", err, cut.on.lines, whole.on.lines)
		}
		for tag := range whole.ids {
			if whole.on.ends[uint64(tag)] != 1 || whole.on.body[uint64(tag)] != 2 || whole.sent[tag] != 1 {
				t.Fatalf("tag %d: ended %d times, %d bytes, sent %d times", tag, whole.on.ends[uint64(tag)], whole.on.body[uint64(tag)], whole.sent[tag])
			}
		}
		if whole.Count() != 0 || !whole.Usable() || !whole.CanOpen() || !whole.Ready() {
			t.Fatal("the connection takes no more")
		}
	})
}

// CODEC-2, CODEC-4 and CODEC-5, for cancelled and cut operations.
func TestEndings(t *testing.T) {
	each(t, func(t *rapid.T, s subject) {
		r := begin(t, s)
		r.open(s.many)
		half := rapid.IntRange(0, len(r.Output())-1).Draw(t, "written")
		r.Sent(half)
		r.Taken()
		gone := map[uint64]bool{}
		for tag, id := range r.ids {
			if !rapid.Bool().Draw(t, "cancel") {
				continue
			}
			gone[uint64(tag)] = true
			if !r.Cancel(id) || r.Cancel(id) {
				t.Fatal("an operation is not given up exactly once")
			}
		}
		var answers []byte
		for tag, id := range r.ids {
			if gone[uint64(tag)] || rapid.Bool().Draw(t, "answered") {
				answers = s.answer(answers, id)
			}
		}
		if r.Usable() {
			_ = r.feed(t, answers, true) // an early answer may spend the connection
		}
		r.Close(io.EOF, r.on)
		for tag := range r.ids {
			want := 1
			if gone[uint64(tag)] {
				want = 0
			}
			if r.on.ends[uint64(tag)] != want {
				t.Fatalf("tag %d: ended %d times, want %d", tag, r.on.ends[uint64(tag)], want)
			}
		}
		if r.Count() != 0 || len(r.AppendTags(nil)) != 0 || r.Usable() || r.CanOpen() || r.Open(&r.op, 1, nil) != 0 {
			t.Fatal("a closed connection has open operations, or takes more")
		}
		if last := len(r.ids) - 1; r.sent[last] != 0 || r.sent[0] > 1 {
			t.Fatalf("%d bytes of all were written: sent counts %v", half, r.sent[:last+1])
		}
	})
}

// TestBodiesGoOutInPieces: however a body is cut into pieces, its own bytes and its inserts go
// out in order.
func TestBodiesGoOutInPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(0, 9, 9)
		a, in, b := text.Draw(t, "before"), text.Draw(t, "insert")+"i", text.Draw(t, "behind")
		op := codec.Operation{Body: []byte(a + b), Inserts: []http1.Insert{{At: len(a), Data: []byte(in)}, {At: len(a + b), Data: []byte(in)}}}
		want, got := a+in+b+in, ""
		if op.BodyLen() != len(want) {
			t.Fatalf("%d bytes, want %d", op.BodyLen(), len(want))
		}
		for len(got) < len(want) {
			n := rapid.IntRange(1, len(want)-len(got)).Draw(t, "piece")
			got += string(op.AppendBody([]byte("x"), len(got), n)[1:])
		}
		if got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}
