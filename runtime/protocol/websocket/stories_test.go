package websocket_test

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cockroachdb/datadriven"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/websocket"
)

// Stories give a server's bytes in hex and the outcome, which must be the same whether they come
// at once, byte by byte or in pieces. The numbers are those of Autobahn's cases.
//
//	feed [offer=off|fresh|takeover] [answer=EXTENSION] [limit=N] [leave=CODE] [ping] [end=eof|reset]
//
// Hex may hold texts in double quotes, and *N behind an item repeats it; (...) groups items, and
// <FIRST PAYLOAD> is a frame of the server's with its length.
func TestStories(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatal("no stories", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
				s := sceneOf(t, d)
				switch d.Cmd {
				case "feed":
					return s.feed(t, d)
				case "upgrade":
					return s.upgrade(d)
				}
				d.Fatalf(t, "no command is called %q", d.Cmd)
				return ""
			})
		})
	}
}

// scene is the connection of a story.
type scene struct {
	config websocket.Config
	answer string
	leave  uint16
	ping   bool
	end    error
}

var offers = map[string]websocket.Compression{"off": websocket.CompressionOff, "fresh": websocket.CompressionFresh, "takeover": websocket.CompressionTakeover}

func sceneOf(t *testing.T, d *datadriven.TestData) (s scene) {
	for _, a := range d.CmdArgs {
		value := strings.Join(a.Vals, ", ")
		switch a.Key {
		case "offer":
			s.config.Compression = offers[value]
		case "answer":
			s.answer = value
		case "protocols":
			s.config.Protocols = a.Vals
		case "limit":
			s.config.MessageMax = int64(number(t, value))
		case "leave":
			s.leave = uint16(number(t, value))
		case "ping":
			s.ping = true
		case "end":
			s.end = map[string]error{"eof": io.EOF, "reset": errors.New("reset")}[value]
		default:
			d.Fatalf(t, "no argument is called %q", a.Key)
		}
	}
	if s.answer == "" {
		s.answer = map[websocket.Compression]string{websocket.CompressionFresh: freshAnswer, websocket.CompressionTakeover: "permessage-deflate"}[s.config.Compression]
	}
	return s
}

const freshAnswer = "permessage-deflate; server_no_context_takeover; client_no_context_takeover"

func number(t *testing.T, s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// fields are a head's.
type fields [][2]string

func (f fields) Len() int                      { return len(f) }
func (f fields) At(i int) (name, value []byte) { return []byte(f[i][0]), []byte(f[i][1]) }

// sampleRandom makes the key of RFC 6455, 1.3, whose answer is sampleAccept.
var sampleRandom = [16]byte([]byte("the sample nonce"))

const sampleAccept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

// maskStep is what a mask is more than the last one; its bytes differ.
const maskStep = 0x9e3779b1

// counting makes masks that differ.
func counting() func() uint32 {
	n := uint32(0)
	return func() uint32 { n++; return n * maskStep }
}

// failer is a test, a benchmark or a property.
type failer interface {
	Helper()
	Fatal(...any)
}

func begin(t failer, c websocket.Config, answer string) *websocket.Conn {
	t.Helper()
	p, err := websocket.New(c)
	if err != nil {
		t.Fatal(err)
	}
	u := p.Upgrade()
	u.AppendFields(nil, sampleRandom)
	head := fields{{"upgrade", "websocket"}, {"connection", "Upgrade"}, {"sec-websocket-accept", sampleAccept}}
	if answer != "" {
		head = append(head, [2]string{"Sec-WebSocket-Extensions", answer})
	}
	d, err := u.Begin(101, head, counting())
	if err != nil {
		t.Fatal(err)
	}
	return d.(*websocket.Conn)
}

// journal writes down what a listener hears.
type journal struct{ lines []string }

func (j *journal) note(format string, values ...any) {
	j.lines = append(j.lines, fmt.Sprintf(format, values...))
}

func (j *journal) Message(kind codec.MessageKind, b []byte) {
	j.note("%s %s", [...]string{"text", "binary"}[kind], shown(b))
}
func (j *journal) Pong(payload uint64)               { j.note("pong %#x", payload) }
func (j *journal) Leaves(code uint16, reason string) { j.note("leaves %d %q", code, reason) }

func shown(b []byte) string {
	if len(b) > 40 {
		return fmt.Sprintf("%q... of %d", b[:10], len(b))
	}
	if !utf8.Valid(b) {
		return fmt.Sprintf("%x", b)
	}
	return strconv.Quote(string(b))
}

func (s scene) feed(t *testing.T, d *datadriven.TestData) string {
	b, err := unhex(d.Input)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	whole := s.play(t, b, len(b))
	for _, cut := range []int{1, 2, 3, 7} {
		if cut > 1 && len(b) > 1<<20 {
			break
		}
		if got := s.play(t, b, cut); got != whole {
			d.Fatalf(t, "in pieces of %d:\n%swhole:\n%s", cut, got, whole)
		}
	}
	return whole
}

// play feeds the bytes in pieces and tells the outcome.
func (s scene) play(t *testing.T, b []byte, cut int) string {
	c, on := begin(t, s.config, s.answer), &journal{}
	if s.ping {
		c.Ping(7)
	}
	if s.leave > 0 {
		c.Leave(s.leave, "")
	}
	sent := c.Output()
	sent = append([]byte(nil), sent...)
	c.Sent(len(sent))
	var wrong error
	for len(b) > 0 && wrong == nil {
		n := min(max(cut, 1), len(b))
		piece := append([]byte(nil), b[:n]...)
		wrong = c.Feed(piece, on)
		clear(piece) // it is gone once it was fed
		b = b[n:]
		out := c.Output()
		sent = append(sent, out...)
		c.Sent(len(out))
	}
	sent = append(sent, c.Output()...)
	c.Sent(len(c.Output()))
	frames, err := describe(sent)
	if err != nil {
		t.Fatal(err)
	}
	on.lines = compact(on.lines)
	for _, line := range compact(frames) {
		on.note("-> %s", line)
	}
	switch {
	case wrong != nil:
		on.note("%v", wrong)
	case s.end != nil:
		on.note("end: %v", c.End(s.end))
	case c.Over():
		on.note("over")
	}
	c.Release()
	if len(on.lines) == 0 {
		on.note("nothing")
	}
	return strings.Join(on.lines, "\n") + "\n"
}

// compact writes lines that repeat as one.
func compact(lines []string) (short []string) {
	for i := 0; i < len(lines); {
		n := 1
		for i+n < len(lines) && lines[i+n] == lines[i] {
			n++
		}
		if n > 1 {
			short = append(short, fmt.Sprintf("%s x%d", lines[i], n))
		} else {
			short = append(short, lines[i])
		}
		i += n
	}
	return short
}

// describe reads the client's frames, each of which has the next mask.
func describe(b []byte) (lines []string, err error) {
	for number := uint32(1); len(b) > 0; number++ {
		f, rest, err := cutFrame(b)
		if err != nil {
			return nil, err
		}
		if f.mask != number*maskStep {
			return nil, fmt.Errorf("frame %d has the mask %#x", number, f.mask)
		}
		name := map[byte]string{1: "text", 2: "binary", 8: "close", 9: "ping", 10: "pong"}[f.first&0xf]
		switch text := string(f.payload); {
		case f.first&0xf0 != 0x80 && f.first&0xf0 != 0xc0:
			return nil, fmt.Errorf("frame %d begins with %#x", number, f.first)
		case name == "close" && len(text) >= 2:
			lines = append(lines, fmt.Sprintf("close %d %q", binary.BigEndian.Uint16(f.payload), text[2:]))
		default:
			lines = append(lines, fmt.Sprintf("%s %s", name, shown(f.payload)))
		}
		b = rest
	}
	return lines, nil
}

// sentFrame is a frame of the client's.
type sentFrame struct {
	first   byte
	mask    uint32
	payload []byte
}

// cutFrame reads one frame of the client's, byte by byte as RFC 6455 says it.
func cutFrame(b []byte) (f sentFrame, rest []byte, err error) {
	if len(b) < 6 || b[1]&0x80 == 0 {
		return f, nil, fmt.Errorf("no masked frame: %x", b[:min(len(b), 20)])
	}
	f.first = b[0]
	n, b := uint64(b[1]&0x7f), b[2:]
	switch n {
	case 126:
		n, b = uint64(binary.BigEndian.Uint16(b)), b[2:]
	case 127:
		n, b = binary.BigEndian.Uint64(b), b[8:]
	}
	if uint64(len(b)) < n+4 {
		return f, nil, fmt.Errorf("a frame of %d bytes is cut", n)
	}
	key := b[:4]
	f.mask = binary.LittleEndian.Uint32(key)
	for i, c := range b[4 : 4+n] {
		f.payload = append(f.payload, c^key[i%4])
	}
	return f, b[4+n:], nil
}

// upgrade judges an answer: the first line is its status, the others are fields.
func (s scene) upgrade(d *datadriven.TestData) string {
	p, err := websocket.New(s.config)
	if err != nil {
		return err.Error() + "\n"
	}
	u := p.Upgrade()
	request := u.AppendFields(nil, sampleRandom)
	if d.Input == "" {
		return strings.ReplaceAll(string(request), "\r\n", "\n")
	}
	status, rest, _ := strings.Cut(d.Input, "\n")
	var head fields
	for line := range strings.SplitSeq(rest, "\n") {
		name, value, _ := strings.Cut(line, ":")
		if name == "good" {
			head = append(head, fields{{"Upgrade", "websocket"}, {"Connection", "upgrade"}, {"Sec-WebSocket-Accept", sampleAccept}}...)
			continue
		}
		head = append(head, [2]string{name, strings.TrimSpace(value)})
	}
	code, err := strconv.Atoi(status)
	if err != nil {
		return err.Error() + "\n"
	}
	dialogue, err := u.Begin(code, head, counting())
	if err != nil {
		if http1.KindOf(err) == http1.KindOther {
			return "an error without a kind\n"
		}
		return err.Error() + "\n"
	}
	c := dialogue.(*websocket.Conn)
	return fmt.Sprintf("upgraded, protocol %q, compressed %v\n", c.Chosen(), c.Compressed())
}

// unhex reads the bytes of a story.
func unhex(s string) ([]byte, error) {
	b, rest, err := items(s)
	if err == nil && rest != "" {
		err = fmt.Errorf("%q is left", rest)
	}
	return b, err
}

// serverFrame appends a frame as a server sends it.
func serverFrame(b []byte, first byte, payload []byte) []byte {
	switch n := len(payload); {
	case n < 126:
		b = append(b, first, byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, first, 126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, first, 127), uint64(n))
	}
	return append(b, payload...)
}

func items(s string) (all []byte, rest string, err error) {
	for {
		s = strings.TrimLeft(s, " \n")
		var one []byte
		switch {
		case s == "" || s[0] == ')' || s[0] == '>':
			return all, s, nil
		case s[0] == '<':
			if one, s, err = items(s[1:]); err != nil || s == "" || len(one) == 0 {
				return nil, "", fmt.Errorf("a frame does not end: %v", err)
			}
			one, s = serverFrame(nil, one[0], one[1:]), s[1:]
		case s[0] == '(':
			if one, s, err = items(s[1:]); err != nil || s == "" {
				return nil, "", fmt.Errorf("a group does not end: %v", err)
			}
			s = s[1:]
		case s[0] == '"':
			quoted, err := strconv.QuotedPrefix(s)
			if err != nil {
				return nil, "", err
			}
			text, err := strconv.Unquote(quoted)
			if err != nil {
				return nil, "", err
			}
			one, s = []byte(text), s[len(quoted):]
		case len(s) < 2:
			return nil, "", fmt.Errorf("half a byte: %q", s)
		default:
			if one, err = hex.DecodeString(s[:2]); err != nil {
				return nil, "", err
			}
			s = s[2:]
		}
		times := 1
		if strings.HasPrefix(s, "*") {
			digits := 1
			for digits < len(s) && s[digits] >= '0' && s[digits] <= '9' {
				digits++
			}
			if times, err = strconv.Atoi(s[1:digits]); err != nil {
				return nil, "", err
			}
			s = s[digits:]
		}
		for range times {
			all = append(all, one...)
		}
	}
}
