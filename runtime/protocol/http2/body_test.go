package http2

import (
	"bytes"
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// An open body goes out whole and in order, within the windows, and each piece counts when the kernel has
// its last byte. It ends once, also if nothing was left.
func TestOpenBodies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c Conn
		c.Reset(Config{})
		_ = c.Feed(appendFrame(nil, 0, typeSettings, 0, 0), nil)
		var op codec.Operation
		Render(&op, &http1.Call{Method: "POST", Scheme: "http", Path: "/", Open: true})
		id := c.Open(&op, 1, nil)
		window := func(stream uint32, more uint32) {
			_ = c.Feed(binary.BigEndian.AppendUint32(appendFrame(nil, 4, typeWindow, 0, stream), more), nil)
		}
		const preface = len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
		var said, came, out []byte
		ends := 0 // frames that end the stream
		var counts []*uint64
		var places []int
		cut := func() {
			rest := out[preface:]
			came, ends = nil, 0
			for len(rest) >= frameHead && len(rest) >= frameHead+payloadLen(rest) {
				n := frameHead + payloadLen(rest)
				if rest[3] == typeData {
					came = append(came, rest[frameHead:n]...)
				}
				if (rest[3] == typeData || rest[3] == typeHeaders) && rest[4]&flagEndStream != 0 {
					ends++
				}
				rest = rest[n:]
			}
		}
		check := func() {
			cut()
			for i, count := range counts {
				if (*count == 1) != (len(came) >= places[i]) {
					t.Fatalf("piece %d, which ends at %d, counts %d with %d bytes out", i, places[i], *count, len(came))
				}
			}
		}
		take := func() {
			b := c.Output()
			n := rapid.IntRange(0, len(b)).Draw(t, "written")
			out = append(out, b[:n]...)
			c.Sent(n)
			c.Taken()
			if len(out) >= preface {
				check()
			}
		}
		ended := false
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0, 1:
				b := bytes.Repeat([]byte{byte(len(counts))}, rapid.IntRange(1, 30_000).Draw(t, "size"))
				count := new(uint64)
				if _, taken := c.Append(id, b, count); taken == ended {
					t.Fatalf("taken %v, ended %v", taken, ended)
				}
				if !ended {
					said = append(said, b...)
					counts, places = append(counts, count), append(places, len(said))
				}
			case 2:
				window(id, 20_000)
				window(0, 20_000)
			case 3:
				take()
			case 4:
				if len(counts) > 3 {
					c.End(id)
					ended = true
				}
			}
		}
		c.End(id)
		for round := 0; ; round++ {
			b := c.Output()
			out = append(out, b...)
			c.Sent(len(b))
			c.Taken()
			if check(); len(b) == 0 && len(came) == len(said) {
				break
			}
			if round > 100 {
				t.Fatalf("%d of %d bytes came", len(came), len(said))
			}
			window(id, 60_000)
			window(0, 60_000)
		}
		if !bytes.Equal(came, said) || ends != 1 {
			t.Fatalf("%d bytes came of %d, and %d ends", len(came), len(said), ends)
		}
		if _, taken := c.Append(id, []byte("x"), nil); taken {
			t.Fatal("taken behind the end")
		}
		if c.Cancel(id); len(c.streams.growing) > 0 {
			t.Fatal("a stream that is over has a body")
		}
	})
}
