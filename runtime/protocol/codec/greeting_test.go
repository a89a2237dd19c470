package codec_test

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// counted is a greeting of messages with a length before each, of two bytes. It answers each with
// its number, until one is empty.
type counted struct {
	codec.Dialogue
	n int
}

func (c *counted) Begin(dst []byte) []byte { return append(dst, "begin"...) }

func (c *counted) Hear(dst, b []byte) ([]byte, int, codec.Dialogue, error) {
	if len(b) < 2 || len(b) < 2+int(b[0])<<8+int(b[1]) {
		return dst, 0, nil, nil
	}
	size := int(b[0])<<8 + int(b[1])
	if c.n++; size == 0 {
		return dst, 2, c, nil
	}
	if b[2] == '!' {
		return dst, 0, nil, &http1.Error{Kind: http1.KindProtocol, Detail: "refused"}
	}
	return fmt.Appendf(dst, "%d,", c.n), 2 + size, nil, nil
}

// GREETING-1 and GREETING-2: however what the server says is cut, its greeting ends alike, and within
// the bounds.
func TestGreetingsEndAlike(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var said []byte
		for range rapid.IntRange(0, 70).Draw(t, "messages") {
			size := rapid.SampledFrom([]int{1, 2, 300, 5000, 1<<16 - 1}).Draw(t, "size")
			first := rapid.SampledFrom([]byte("aaaaaaaaaaaaaaaaaaaaaaaaaaaaa!")).Draw(t, "first")
			said = append(said, byte(size>>8), byte(size), first)
			said = append(said, make([]byte, size-1)...)
		}
		if rapid.Bool().Draw(t, "ends") {
			said = append(said, "\x00\x00the dialogue's"...)
		}
		play := func(cut bool) string {
			r, out := codec.NewRounds(&counted{})
			var rest []byte
			begun := false
			for at := 0; at < len(said); {
				n := len(said) - at
				if cut {
					n = rapid.IntRange(1, n).Draw(t, "cut")
				}
				b := bytes.Clone(said[at : at+n])
				if at += n; begun {
					rest = append(rest, b...)
					continue
				}
				var more []byte
				var d codec.Dialogue
				var err error
				if out, more, d, err = r.Feed(out, b); err != nil {
					return fmt.Sprintf("%s %v", out, err)
				}
				begun, rest = d != nil, append(rest, more...)
			}
			if begun {
				return fmt.Sprintf("%s then %q", out, rest)
			}
			return fmt.Sprintf("%s %v", out, r.End(io.EOF))
		}
		whole := play(false)
		if cut := play(true); cut != whole {
			t.Fatalf("cut: %s\nwhole: %s", cut, whole)
		}
	})
}

// slow is a greeting that computes before it answers each message.
type slow struct {
	counted
	works int
}

func (s *slow) Works() bool { return s.works%3 != 0 }

func (s *slow) Hear(dst, b []byte) ([]byte, int, codec.Dialogue, error) {
	if s.works++; s.works%3 != 0 {
		return dst, 0, nil, nil
	}
	return s.counted.Hear(dst, b)
}

// A greeting that computes takes nothing meanwhile, however much waits, and goes on without a byte more.
func TestGreetingsThatCompute(t *testing.T) {
	size := codec.GreetingBytes - 4
	said := append(append([]byte{byte(size >> 8), byte(size)}, bytes.Repeat([]byte("a"), size)...), 0, 0)
	r, out := codec.NewRounds(&slow{})
	out, _, d, err := r.Feed(out, append(said, "rest"...))
	calls := 1
	for ; err == nil && d == nil && r.Works() && calls < 9; calls++ {
		var rest []byte
		if out, rest, d, err = r.Feed(out, nil); d != nil && string(rest) != "rest" {
			t.Errorf("what follows is %q", rest)
		}
	}
	if err != nil || d == nil || calls != 5 || string(out) != "begin1," {
		t.Errorf("%d calls: %q %v %v", calls, out, d, err)
	}
}

// A greeting that ends with the last byte, or message, of its bounds is over.
func TestGreetingsAtTheirBounds(t *testing.T) {
	for _, messages := range []int{1, codec.GreetingMessages - 2} {
		for over := range 2 {
			size := (codec.GreetingBytes-2)/messages - 2
			var said []byte
			for i := range messages {
				n := size
				if i == 0 {
					n = codec.GreetingBytes - 2 - (messages-1)*(size+2) - 2 + over
				}
				said = append(append(said, byte(n>>8), byte(n)), bytes.Repeat([]byte("a"), n)...)
			}
			r, _ := codec.NewRounds(&counted{})
			_, _, d, err := r.Feed(nil, append(said, 0, 0))
			if kind := http1.KindOf(err); (d != nil) != (over == 0) || (kind == http1.KindTooLarge) != (over == 1) {
				t.Errorf("%d messages, %d bytes: got %v, %v", messages, len(said)+2, d, err)
			}
		}
	}
	for over := range 2 {
		said := append(bytes.Repeat([]byte("\x00\x01a"), codec.GreetingMessages-1+over), 0, 0)
		r, _ := codec.NewRounds(&counted{})
		_, _, d, err := r.Feed(nil, said)
		if kind := http1.KindOf(err); (d != nil) != (over == 0) || (kind == http1.KindTooLarge) != (over == 1) {
			t.Errorf("%d messages: got %v, %v", codec.GreetingMessages+over, d, err)
		}
	}
}

// begins is a greeting whose first message begins TLS.
type begins struct {
	counted
	secured bool
}

func (s *begins) Secures() bool { return s.n == 1 && !s.secured }

func (s *begins) Secured(dst, binding []byte) []byte {
	s.secured = true
	return append(append(dst, "secured by "...), binding...)
}

// GREETING-3: what stands behind the message that begins TLS is heard by none, and what comes in TLS is
// heard as ever, however both are cut.
func TestGreetingsThatBeginTLS(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, out := codec.NewRounds(&begins{})
		feed := func(said string) (d codec.Dialogue, err error) {
			for len(said) > 0 && d == nil && err == nil {
				n := rapid.IntRange(1, len(said)).Draw(t, "cut")
				out, _, d, err = r.Feed(out, []byte(said[:n]))
				if said = said[n:]; r.Secures() {
					break
				}
			}
			return d, err
		}
		extra := rapid.StringN(0, 3, 3).Draw(t, "in clear")
		_, err := feed("\x00\x01a")
		if err != nil || !r.Secures() {
			t.Fatalf("TLS does not begin: %v", err)
		}
		if whole, first := codec.NewRounds(&begins{}); extra != "" {
			out, rest, d, err := whole.Feed(first, []byte("\x00\x01a"+extra))
			if http1.KindOf(err) != http1.KindProtocol || d != nil || rest != nil || string(out) != "begin1," || whole.Secures() {
				t.Fatalf("%q in clear: %q %v %v", extra, out, d, err)
			}
		}
		out = r.Secured(out, []byte("it,"))
		d, err := feed("\x00\x01b\x00\x00")
		if err != nil || d == nil || string(out) != "begin1,secured by it,2," || r.Secures() {
			t.Fatalf("%q %v %v", out, d, err)
		}
	})
}
