package http3_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"pgregory.net/rapid"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/http3"
)

// below is a transport that keeps what it is given.
type below struct {
	lines []string
	next  uint64
	full  bool // the server takes no other stream
	slow  bool // the library does not take a request at once
}

func (t *below) Room() bool { return !t.full }

func (t *below) Open(request []byte) (uint64, bool) {
	t.lines = append(t.lines, fmt.Sprintf("open %d %d bytes", t.next, len(request)))
	t.next += 4
	return t.next - 4, !t.slow
}

func (t *below) Reset(stream uint64, code http3.Code) {
	t.lines = append(t.lines, fmt.Sprintf("reset %d %s", stream, code))
}

func (t *below) Stop(stream uint64, code http3.Code) {
	t.lines = append(t.lines, fmt.Sprintf("stop %d %s", stream, code))
}

// journal keeps what a handler hears, in the transport's order; pieces of a body as their sum.
type journal struct {
	*below
	body map[uint64]int
	keep *http1.Collector
}

func (j *journal) Begins(uint64) *http1.Collector { return j.keep }
func (j *journal) Head(tag uint64, status int) {
	j.lines = append(j.lines, fmt.Sprintf("%d: head %d", tag, status))
}
func (j *journal) Body(tag uint64, b []byte) { j.body[tag] += len(b) }
func (j *journal) Done(tag uint64) {
	line := fmt.Sprintf("%d: done, body of %d", tag, j.body[tag])
	if j.keep != nil {
		for i := range j.keep.Len() {
			name, value := j.keep.At(i)
			line += fmt.Sprintf(" [%s: %s]", name, value)
		}
	}
	j.lines = append(j.lines, line)
}
func (j *journal) Failed(tag uint64, err error) {
	j.lines = append(j.lines, fmt.Sprintf("%d: failed, %v", tag, err))
}

func call(t testing.TB, method, body string) http1.Call {
	c, err := http1.Request{Method: method, URL: "https://h/x?y=1", Body: []byte(body), Bearer: "secret", Headers: []http1.Pair{{Name: "X-One", Value: "1"}}}.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// begin returns a connection with so many open requests.
func begin(t testing.TB, streams int, method string, common *http1.Common) (*http3.Conn, *journal, *uint64) {
	var op codec.Operation
	c := call(t, method, "")
	http3.Render(&op, &c)
	conn := (&http3.Protocol{Streams: 4}).Begin(nil, common).(*http3.Conn)
	j := &journal{below: &below{}, body: map[uint64]int{}}
	conn.Over(j)
	sent := new(uint64)
	for tag := range streams {
		conn.Open(&op, uint64(tag), sent)
	}
	j.lines = nil
	return conn, j, sent
}

// frame returns a frame in hexadecimal of any short payload.
func frame(kind byte, payload string) string {
	return string([]byte{kind, byte(len(payload))}) + payload
}

// message reads the words of a story: hexadecimal, texts in quotes, and frames by name.
func message(t *testing.T, words string) []byte {
	out := ""
	for word := range strings.FieldsSeq(words) {
		kind, rest, named := strings.Cut(word, ":")
		switch {
		case word == "200":
			out += frame(1, "\x00\x00\xd9")
		case word == "404":
			out += frame(1, "\x00\x00\xdb")
		case word == "103":
			out += frame(1, "\x00\x00\xd8")
		case named && kind == "data":
			out += frame(0, rest)
		case named && kind == "head": // fields as name=value, literal
			block := "\x00\x00"
			for f := range strings.SplitSeq(rest, ",") {
				name, value, _ := strings.Cut(f, "=")
				if len(name) > 6 {
					block += string([]byte{0x27, byte(len(name) - 7)}) + name
				} else {
					block += string([]byte{0x20 | byte(len(name))}) + name
				}
				block += string([]byte{byte(len(value))}) + value
			}
			out += frame(1, block)
		default:
			b, err := hex.DecodeString(word)
			if err != nil {
				t.Fatalf("%s: %v", word, err)
			}
			out += string(b)
		}
	}
	return []byte(out)
}

// play plays one story: "open N", then a line an event.
func play(t *testing.T, text string, cut func(n int) int) string {
	method, streams, keeps := "GET", 1, false
	var conn *http3.Conn
	var j *journal
	common := &http1.Common{}
	for line := range strings.Lines(text) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if word == "begin" {
			for option := range strings.FieldsSeq(rest) {
				switch n, err := strconv.Atoi(option); {
				case err == nil:
					streams = n
				case option == "keep":
					keeps = true
				default:
					method = option
				}
			}
			continue
		}
		if conn == nil {
			conn, j, _ = begin(t, streams, method, common)
			if keeps {
				j.keep = &http1.Collector{}
			}
		}
		id, what, _ := strings.Cut(rest, " ")
		stream, _ := strconv.ParseUint(id, 10, 64)
		var err error
		switch word {
		case "data", "fin":
			b := message(t, what)
			for err == nil && len(b) > 0 && cut != nil {
				n := cut(len(b))
				err = conn.Take(http3.Event{Kind: http3.Data, Stream: stream, Bytes: b[:n]}, j)
				b = b[n:]
			}
			if kind := map[string]http3.EventKind{"data": http3.Data, "fin": http3.Fin}[word]; err == nil {
				err = conn.Take(http3.Event{Kind: kind, Stream: stream, Bytes: b}, j)
			}
		case "reset", "stopped":
			code, _ := strconv.ParseUint(what, 0, 64)
			err = conn.Take(http3.Event{Kind: map[string]http3.EventKind{"reset": http3.Reset, "stopped": http3.Stopped}[word], Stream: stream, Code: code}, j)
		case "cancel":
			j.lines = append(j.lines, fmt.Sprint(conn.Cancel(uint32(stream/4)+1)))
		case "close":
			conn.Close(io.EOF, j)
		default:
			t.Fatalf("unknown word %q", word)
		}
		if err != nil {
			j.lines = append(j.lines, fmt.Sprintf("breach, %v (%s)", err, conn.Goodbye()))
			conn.Close(err, j)
			break
		}
	}
	return strings.Join(append(j.lines, fmt.Sprintf("usable %v, %d open\n", conn.Usable(), conn.Count())), "\n")
}

// HTTP3-1, HTTP3-3: the stories of testdata, whole and cut anywhere.
func TestStories(t *testing.T) {
	all, err := os.ReadDir("testdata/stories")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		t.Run(f.Name(), func(t *testing.T) {
			datadriven.RunTest(t, "testdata/stories/"+f.Name(), func(t *testing.T, d *datadriven.TestData) string {
				whole := play(t, d.Input, nil)
				rapid.Check(t, func(r *rapid.T) {
					if got := play(t, d.Input, func(n int) int { return rapid.IntRange(1, n).Draw(r, "cut") }); got != whole {
						r.Fatalf("cut: got %s, want %s", got, whole)
					}
				})
				return whole
			})
		})
	}
}

// HTTP3-5, and the bounds of concurrent requests.
func TestRequests(t *testing.T) {
	c, j, sent := begin(t, 6, "GET", nil)
	if c.Count() != 4 || *sent != 4 || c.CanOpen() {
		t.Fatalf("%d open, %d sent", c.Count(), *sent)
	}
	j.slow = true
	c.Cancel(1)
	var op codec.Operation
	with := call(t, "POST", strings.Repeat("b", 70))
	http3.Render(&op, &with)
	id := c.Open(&op, 9, sent)
	if id == 0 || !c.Sending(id) || *sent != 4 {
		t.Fatalf("id %d, sending %v, %d sent", id, c.Sending(id), *sent)
	}
	if c.Cancel(id); c.Sending(id) {
		t.Fatal("a request that is given up is sent")
	}
	if _, out := c.Bytes(); out != 0 {
		t.Errorf("%d bytes of a request count that was never written", out)
	}
	id = c.Open(&op, 9, sent)
	if err := c.Take(http3.Event{Kind: http3.Written, Stream: uint64(id-1) * 4}, j); err != nil || *sent != 5 || c.Sending(id) {
		t.Fatalf("%v, %d sent", err, *sent)
	}
	c.Cancel(id)
	if _, out := c.Bytes(); out != uint64(len(op.Head)+70) {
		t.Errorf("%d bytes of a request count", out)
	}
	if j.full = true; c.CanOpen() {
		t.Fatal("there is no room")
	}
}

// The bytes of a request. That other servers read them is what the tests of runtime/engine show.
func TestRender(t *testing.T) {
	var op codec.Operation
	from := call(t, "POST", "body")
	http3.Render(&op, &from)
	// Its own response decoder refuses pseudo-headers of requests, so the bytes are compared.
	got := hex.EncodeToString(op.Head)
	want, err := os.ReadFile("testdata/request.hex")
	if err != nil || strings.TrimSpace(string(want)) != got {
		t.Errorf("got %s, want %s (%v)", got, want, err)
	}
}

// HTTP3-2: whatever a server sends ends in time and within bounds.
func FuzzServer(f *testing.F) {
	f.Add([]byte("\x00\x0a\x01\x03\x00\x00\xd9\x00\x02ok"), uint8(0))
	f.Add([]byte("\x03\x04\x00\x04\x00\x07\x01\x00"), uint8(3))
	f.Add([]byte("\x03\x01\x02\x20"), uint8(7))
	f.Fuzz(func(t *testing.T, b []byte, split uint8) {
		c, j, _ := begin(t, 2, "GET", &http1.Common{BodyMax: 1 << 10})
		j.keep = &http1.Collector{}
		for len(b) > 1 {
			stream, n := uint64(b[0]&15), min(int(b[1]), len(b)-2)
			kind := http3.Data
			if b[0]&0x80 != 0 {
				kind = http3.Fin
			}
			if err := c.Take(http3.Event{Kind: kind, Stream: stream, Bytes: b[2 : 2+n]}, j); err != nil {
				var known *http1.Error
				if !errors.As(err, &known) || known.Kind == "" {
					t.Fatalf("%v has no kind", err)
				}
				break
			}
			b = b[2+n:]
		}
		c.Close(io.EOF, j)
		if ends := strings.Count(strings.Join(j.lines, "\n"), "failed,") + strings.Count(strings.Join(j.lines, "\n"), "done,"); ends != 2 || c.Count() != 0 {
			t.Fatalf("%d ends of 2: %q", ends, j.lines)
		}
	})
}

// HTTP3-2: a server that opens one stream after another of types that have no meaning breaks the rules.
func TestUnknownStreamsAreBounded(t *testing.T) {
	for _, said := range []string{"\x21", ""} {
		c, j, _ := begin(t, 1, "GET", nil)
		var err error
		n := 0
		for ; err == nil && n < 20_000; n++ {
			stream := uint64(n)<<2 | 3
			if err = c.Take(http3.Event{Kind: http3.Data, Stream: stream, Bytes: []byte(said)}, j); err == nil {
				err = c.Take(http3.Event{Kind: http3.Reset, Stream: stream}, j)
			}
		}
		if err == nil || c.Goodbye() != http3.CodeExcessiveLoad {
			t.Errorf("%d streams of %q: %v (%s)", n, said, err, c.Goodbye())
		}
	}
}
