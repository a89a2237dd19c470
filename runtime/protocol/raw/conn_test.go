package raw_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/raw"
)

// ear takes the first message as an answer; more bytes, however they are reported, are a surplus.
type ear struct {
	answers int
	answer  []byte
	surplus []byte
}

func (e *ear) Message(_ codec.MessageKind, b []byte) {
	if e.answers++; e.answers == 1 {
		e.answer = bytes.Clone(b)
		return
	}
	e.surplus = append(e.surplus, b...)
}
func (e *ear) Pong(uint64)           {}
func (e *ear) Leaves(uint16, string) {}

// outcome plays bytes, cut as next says, and then an orderly end.
func outcome(f raw.Framing, limit int64, said []byte, next func(left int) int) string {
	c, on := raw.New(limit), &ear{}
	c.Expect(f)
	for at := 0; at < len(said); {
		n := next(len(said) - at)
		if err := c.Feed(bytes.Clone(said[at:at+n]), on); err != nil {
			return fmt.Sprint(on.answers, err)
		}
		at += n
	}
	if reflect.DeepEqual(f, raw.Nothing()) { // it has no answer: all is a surplus
		return fmt.Sprintf("%q", append(on.answer, on.surplus...))
	}
	c.Ends(on)
	if on.answers == 0 {
		return fmt.Sprint(http1.KindOf(c.End(io.EOF)))
	}
	return fmt.Sprintf("%q %q", on.answer, on.surplus)
}

func whole(left int) int { return left }

var framings = map[string]raw.Framing{
	"line": raw.Until("\n"), "until": raw.Until("aab"), "bytes": raw.Bytes(5), "closed": raw.Closed(), "nothing": raw.Nothing(),
	"prefixed 1": raw.Prefixed(1), "prefixed 2": raw.Prefixed(2), "prefixed 4": raw.Prefixed(4), "prefixed 8": raw.Prefixed(8),
}

// RAW-1: however bytes are cut, the outcome is the same.
func TestAnswersEndAlike(t *testing.T) {
	//lint:orderfree each is a test of its own
	for name, f := range framings {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				said := rapid.SliceOfN(rapid.SampledFrom([]byte("aaab\n\x00\x01\x02")), 0, 40).Draw(t, "said")
				limit := int64(rapid.IntRange(0, 20).Draw(t, "limit"))
				want := outcome(f, limit, said, whole)
				got := outcome(f, limit, said, func(left int) int { return rapid.IntRange(1, left).Draw(t, "cut") })
				if got != want {
					t.Fatalf("%q cut: %s, whole: %s", said, got, want)
				}
			})
		})
	}
}

func TestAnswers(t *testing.T) {
	for _, tt := range []struct {
		f          raw.Framing
		said, want string
	}{
		{raw.Until("\n"), "one\n", `"one" ""`},
		{raw.Until("\n"), "\n", `"" ""`},
		{raw.Until("\n"), "one\ntwo", `"one" "two"`},
		{raw.Until("\n"), "on", "truncated"},
		{raw.Until("\n"), "", "closed"},
		{raw.Until("\r\n"), "a\r\ra\r\n", `"a\r\ra" ""`},
		{raw.Bytes(3), "one", `"one" ""`},
		{raw.Bytes(3), "one!", `"one" "!"`},
		{raw.Bytes(3), "on", "truncated"},
		{raw.Prefixed(1), "\x03one", `"one" ""`},
		{raw.Prefixed(2), "\x00\x03one\x00", `"one" "\x00"`},
		{raw.Prefixed(4), "\x00\x00\x00\x00", `"" ""`},
		{raw.Prefixed(8), "\x00\x00\x00\x00\x00\x00\x00\x01x", `"x" ""`},
		{raw.Prefixed(4), "\x00\x00\x01", "truncated"},
		{raw.Prefixed(4), "\x7f\xff\xff\xff", "0 too_large: the answer is longer than 64 bytes"},
		{raw.Prefixed(8), "\xff\xff\xff\xff\xff\xff\xff\xff", "0 too_large: the answer is longer than 64 bytes"},
		{raw.Bytes(65), "x", "0 too_large: the answer is longer than 64 bytes"},
		{raw.Closed(), "all\nof it", `"all\nof it" ""`},
		{raw.Closed(), "", `"" ""`},
		{raw.Nothing(), "late", `"late"`},
	} {
		if got := outcome(tt.f, 64, []byte(tt.said), whole); got != tt.want {
			t.Errorf("%q: got %s, want %s", tt.said, got, tt.want)
		}
	}
}

// RAW-2: what comes between two exchanges answers neither.
func TestBytesBetweenExchanges(t *testing.T) {
	c, on := raw.New(0), &ear{}
	c.Expect(raw.Until("\n"))
	if err := c.Feed([]byte("one\nla"), on); err != nil || string(on.answer) != "one" || string(on.surplus) != "la" {
		t.Fatalf("got %q and %q: %v", on.answer, on.surplus, err)
	}
	if err := c.Feed([]byte("te\n"), on); err != nil || string(on.surplus) != "late\n" {
		t.Fatalf("got %q: %v", on.surplus, err)
	}
	next := &ear{}
	c.Expect(raw.Until("\n"))
	if err := c.Feed([]byte("two\n"), next); err != nil || string(next.answer) != "two" {
		t.Fatalf("got %q: %v", next.answer, err)
	}
}

// A message counts once the kernel has its last byte.
func TestSentCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, sent := raw.New(0), uint64(0)
		var want, got []byte
		ends := []int{}
		for range rapid.IntRange(1, 5).Draw(t, "messages") {
			m := rapid.SliceOfN(rapid.Byte(), 1, 10_000).Draw(t, "message")
			want = append(want, m...)
			ends = append(ends, len(want))
			if err := c.Send(codec.MessageBinary, m, &sent); err != nil {
				t.Fatal(err)
			}
			for rapid.Bool().Draw(t, "write") && c.Unsent() > 0 {
				n := rapid.IntRange(1, c.Unsent()).Draw(t, "n")
				got = append(got, c.Output()[:n]...)
				c.Sent(n)
				due := uint64(0)
				for _, end := range ends {
					if end <= len(got) {
						due++
					}
				}
				if sent != due {
					t.Fatalf("%d of %d bytes: counted %d, want %d", len(got), len(want), sent, due)
				}
			}
		}
		got = append(got, c.Output()...)
		c.Sent(c.Unsent())
		if !bytes.Equal(got, want) || sent != uint64(len(ends)) || c.Unsent() != 0 {
			t.Fatalf("%d bytes of %d, counted %d of %d", len(got), len(want), sent, len(ends))
		}
	})
}

// RAW-3: an announced length reserves nothing.
func TestLengthsReserveNothing(t *testing.T) {
	c, on := raw.New(1<<40), &ear{}
	said := binary.BigEndian.AppendUint64(nil, 1<<39)
	if n := testing.AllocsPerRun(10, func() {
		c.Expect(raw.Prefixed(8))
		if err := c.Feed(said, on); err != nil {
			t.Fatal(err)
		}
	}); n > 1 {
		t.Errorf("%v allocations for a length alone", n)
	}
	if on.answers > 0 {
		t.Error("a length is no answer")
	}
}

// FuzzFeed: whatever comes, however it is cut, ends alike.
func FuzzFeed(f *testing.F) {
	f.Add([]byte("one\ntwo"), uint8(0), uint8(3))
	f.Add([]byte("\x00\x03one"), uint8(5), uint8(1))
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xff"), uint8(8), uint8(2))
	all := []raw.Framing{raw.Until("\n"), raw.Until("\r\n"), raw.Bytes(5), raw.Closed(), raw.Prefixed(1), raw.Prefixed(2), raw.Prefixed(4), raw.Nothing(), raw.Prefixed(8)}
	f.Fuzz(func(t *testing.T, said []byte, kind, piece uint8) {
		of := all[int(kind)%len(all)]
		want := outcome(of, 100, said, whole)
		if got := outcome(of, 100, said, func(left int) int { return min(left, int(piece)+1) }); got != want {
			t.Errorf("in pieces of %d: %s, whole: %s", int(piece)+1, got, want)
		}
	})
}
