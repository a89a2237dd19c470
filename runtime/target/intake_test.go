package target

import (
	"bytes"
	"encoding/binary"
	"net"
	"slices"
	"testing"
	"time"

	"golang.org/x/net/http2/hpack"
)

// frames are an HTTP/2 client's bytes.
type frames struct {
	bytes.Buffer
	block   bytes.Buffer
	encoder *hpack.Encoder
}

func newFrames() *frames {
	f := &frames{}
	f.WriteString(preface)
	f.frame(4, 0, 0, nil) // SETTINGS
	f.encoder = hpack.NewEncoder(&f.block)
	return f
}

func (f *frames) frame(kind, flags byte, stream uint32, payload []byte) {
	f.Write([]byte{byte(len(payload) >> 16), byte(len(payload) >> 8), byte(len(payload)), kind, flags})
	f.Write(binary.BigEndian.AppendUint32(nil, stream))
	f.Write(payload)
}

func (f *frames) head(path string) []byte {
	f.block.Reset()
	for _, h := range [][2]string{{":method", "POST"}, {":scheme", "http"}, {":authority", "a"}, {":path", path}} {
		_ = f.encoder.WriteField(hpack.HeaderField{Name: h[0], Value: h[1]}) // a buffer takes all
	}
	return bytes.Clone(f.block.Bytes())
}

func (f *frames) get(stream uint32) { f.frame(headFrame, endStream|endHeaders, stream, f.head("/")) }

func (f *frames) reset(stream uint32) { f.frame(resetFrame, 0, stream, []byte{0, 0, 0, 8}) }

// For any division of the bytes, the intake reports each complete request once.
func TestIntake(t *testing.T) {
	f := newFrames()
	f.get(1)
	b := f.head("/in/pieces?a=b")
	f.frame(headFrame, endStream, 3, b[:3])
	f.frame(moreFrame, 0, 3, nil)
	f.frame(moreFrame, endHeaders, 3, b[3:])
	f.frame(headFrame, endHeaders|padded|weighted, 5, slices.Concat([]byte{2, 0, 0, 0, 0, 9}, f.head("/body"), []byte{0, 0}))
	f.frame(dataFrame, 0, 5, make([]byte, 1000))
	f.frame(headFrame, endHeaders, 7, f.head("/cut"))
	f.frame(dataFrame, 0, 7, make([]byte, 10))
	f.reset(7)
	f.frame(headFrame, endHeaders, 9, f.head("/trailers"))
	f.frame(dataFrame, endStream, 5, nil)
	f.block.Reset()
	_ = f.encoder.WriteField(hpack.HeaderField{Name: "x", Value: "y"})
	f.frame(headFrame, endHeaders|endStream, 9, f.block.Bytes())
	f.reset(9)
	f.frame(headFrame, endHeaders, 11, f.head("/unfinished"))
	f.frame(dataFrame, endStream, 11, make([]byte, 10))
	all := f.Bytes()
	want := []string{"/", "/in/pieces", "/body", "/trailers"}
	for size := 1; size < 100; size++ {
		in := newIntake()
		for piece := range slices.Chunk(all[:len(all)-1], size) {
			in.feed(piece)
		}
		if !slices.Equal(in.arrived, want) || in.deaf {
			t.Fatalf("in pieces of %d: got %q, want %q", size, in.arrived, want)
		}
	}
	f.frame(moreFrame, 0, 1, nil) // continues nothing
	f.get(13)
	in := newIntake()
	in.feed(f.Bytes())
	if !in.deaf || !slices.Equal(in.arrived, append(want, "/unfinished")) {
		t.Errorf("got %q after a fault, want no more", in.arrived)
	}
}

// FuzzIntake: the intake accepts any bytes, and keeps no more than its bound.
func FuzzIntake(f *testing.F) {
	some := newFrames()
	some.get(1)
	some.reset(1)
	f.Add(some.Bytes(), 7)
	f.Fuzz(func(t *testing.T, b []byte, size int) {
		whole, cut := newIntake(), newIntake()
		whole.feed(b)
		for piece := range slices.Chunk(b, max(1, size%100)) {
			cut.feed(piece)
		}
		if !slices.Equal(whole.arrived, cut.arrived) || whole.deaf != cut.deaf || len(whole.open) > openMost || len(whole.carry) > frameHead+frameMost {
			t.Errorf("got %q, and in pieces %q", whole.arrived, cut.arrived)
		}
	})
}

// TestArrivedCounts: requests count even if their client has stopped waiting when their turn
// arrives, whatever it did to their streams and to the connection.
func TestArrivedCounts(t *testing.T) {
	const many = 100
	for _, resets := range []bool{false, true} {
		for _, unread := range []bool{false, true} { // then the client's kernel refuses at once what we send
			s := start(t, nil)
			c, err := net.Dial("tcp", s.Addr())
			if err != nil {
				t.Fatal(err)
			}
			f := newFrames()
			if _, err := f.WriteTo(c); err != nil {
				t.Fatal(err)
			}
			if !unread {
				_, _ = c.Read(make([]byte, 4<<10))
			}
			for i := range uint32(many) {
				f.get(2*i + 1)
			}
			for i := range uint32(many) {
				if resets {
					f.reset(2*i + 1)
				}
			}
			if _, err := f.WriteTo(c); err != nil {
				t.Fatal(err)
			}
			_ = c.Close()
			for wait := 0; wait < 2000 && s.Stats().Requests < many; wait++ {
				time.Sleep(5 * time.Millisecond)
			}
			if got := s.Stats().Requests; got != many {
				t.Errorf("resets %v, unread %v: %d requests counted, want %d", resets, unread, got, many)
			}
		}
	}
}

// TestCutBodyCountsNot: over HTTP/1.1 as over HTTP/2, a request whose body does not come is none.
func TestCutBodyCountsNot(t *testing.T) {
	s := start(t, nil)
	c, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write([]byte("GET /a HTTP/1.1\r\nHost: a\r\n\r\nPOST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nxxPOST /c HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nx")); err != nil {
		t.Fatal(err)
	}
	for wait := 0; wait < 2000 && s.Stats().Responses < 2; wait++ {
		time.Sleep(5 * time.Millisecond)
	}
	_ = c.Close()
	if got := s.Stats(); got.Requests != 2 || got.Paths["/c"] != 0 {
		t.Errorf("got %+v, want two requests", got)
	}
}
