package mongodb_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"hyperscale/core/workflow/bson"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/mongodb"
)

// Stories give a greeting and operations, the server's answers, and the outcome, which must be the same whether
// the bytes come at once or in pieces.
//
//	talk [limit=N] [hello={...}] [end=eof|reset] [unread]
//	greet [user=NAME] [password=WORD] [sha1] [x509] [source=NAME] [assumed] [told=TEXT] [end=eof|reset]
//
// A line with > queues an operation (find, batches NUMBER, write or run, and the command as JSON), or does "ping",
// "leave". One with < is an answer to the last message; what stands before its document changes it: to=NUMBER, code=NUMBER,
// flags=NUMBER, kind=NUMBER, sum, badsum, length=NUMBER. "<<" are raw bytes, escaped as in Go.
func TestStories(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatal("no stories", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
				var s scene
				s.read(t, d)
				play := s.talk
				if d.Cmd == "greet" {
					play = s.greet
				}
				want := play(1 << 30)
				for _, cut := range []int{1, 2, 3, 7, 1 << 10} {
					if got := play(cut); got != want {
						t.Errorf("%s: in pieces of %d bytes:\n%s\nat once:\n%s", d.Pos, cut, got, want)
					}
				}
				return want
			})
		})
	}
}

type scene struct {
	config mongodb.Config
	hello  string
	end    error
	unread bool
	told   string
	hosts  int // servers that the SRV record names; 0: the server is no service's
	lines  []string
}

func (s *scene) read(t *testing.T, d *datadriven.TestData) {
	s.hello = `{"isWritablePrimary": true, "maxWireVersion": 21, "ok": 1}`
	for _, a := range d.CmdArgs {
		switch value := strings.Join(a.Vals, ", "); a.Key {
		case "limit":
			s.config.AnswerMax, _ = strconv.ParseInt(value, 10, 64)
		case "object":
			s.hello = fmt.Sprintf(`{"isWritablePrimary": true, "maxWireVersion": 21, "maxMessageSizeBytes": %s, "ok": 1}`, value)
		case "user":
			s.config.User, s.config.Mechanism = value, mongodb.SCRAMSHA256
		case "told":
			s.told = value
			s.hosts = max(s.hosts, 1)
		case "hosts":
			s.hosts, _ = strconv.Atoi(value)
		case "set":
			s.config.Set = value
		case "balanced":
			s.config.Balanced, s.config.Unbalanced = value == "true", value == "false"
		case "assumed":
			s.config.Assumed = true
		case "x509":
			s.config.Mechanism = mongodb.X509
		case "sha1":
			s.config.Mechanism = mongodb.SCRAMSHA1
		case "password":
			s.config.Password = value
		case "source":
			s.config.Source = value
		case "unread":
			s.unread = true
		case "end":
			s.end = map[string]error{"eof": io.EOF, "reset": errors.New("reset")}[value]
		default:
			d.Fatalf(t, "no argument is called %q", a.Key)
		}
	}
	for text := range strings.Lines(d.Input) {
		s.lines = append(s.lines, strings.TrimSuffix(text, "\n"))
	}
}

func document(text string) []byte {
	c, err := bson.Compile(text, nil)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", text, err))
	}
	b, _ := c.Append(nil, nil)
	return b
}

// answer makes a message that answers another one.
func answer(to int, text string) []byte {
	code, flags, kind, size, sum := 2013, 0, 0, 0, ""
	for text != "" && text[0] != '{' {
		word, rest, _ := strings.Cut(text, " ")
		name, value, _ := strings.Cut(word, "=")
		n, _ := strconv.Atoi(value)
		switch text = rest; name {
		case "to":
			to = n
		case "code":
			code = n
		case "flags":
			flags = n
		case "kind":
			kind = n
		case "length":
			size = n
		default:
			sum = name
			flags |= 1
		}
	}
	b := binary.LittleEndian.AppendUint32([]byte{0, 0, 0, 0, 99, 0, 0, 0}, uint32(to))
	b = binary.LittleEndian.AppendUint32(b, uint32(code))
	b = append(binary.LittleEndian.AppendUint32(b, uint32(flags)), byte(kind))
	if b = append(b, document(text)...); sum != "" {
		b = append(b, 0, 0, 0, 0)
	}
	if size == 0 {
		size = len(b)
	}
	binary.LittleEndian.PutUint32(b, uint32(size))
	if sum == "sum" {
		binary.LittleEndian.PutUint32(b[len(b)-4:], crc32.Checksum(b[:len(b)-4], crc32.MakeTable(crc32.Castagnoli)))
	}
	return b
}

// said returns the bytes of a line of the server.
func said(line string, to int) []byte {
	sign, rest, _ := strings.Cut(line, " ")
	if sign == "<" {
		return answer(to, rest)
	}
	raw, err := strconv.Unquote(`"` + rest + `"`)
	if sign != "<<" || err != nil {
		panic(line)
	}
	return []byte(raw)
}

// begun returns a connection that is greeted.
func begun(c mongodb.Config, hello string) (*mongodb.Conn, error) {
	r, _ := codec.NewRounds(mongodb.New(c).Greet(mongodb.Random{}))
	_, _, d, err := r.Feed(nil, answer(1, hello))
	if err != nil {
		return nil, err
	}
	return d.(*mongodb.Conn), nil
}

// talk plays operations on a connection that is greeted.
func (s *scene) talk(cut int) string {
	c, err := begun(s.config, s.hello)
	if err != nil {
		return err.Error()
	}
	out := heard{conn: c, number: 1}
	for _, l := range s.lines {
		if does, is := strings.CutPrefix(l, "> "); is {
			out.do(does, !s.unread)
			continue
		}
		for b := said(l, out.number); len(b) > 0; {
			n := min(cut, len(b))
			if err := c.Feed(b[:n], &out); err != nil {
				out.say("%s", short(err.Error()))
				break
			}
			b = b[n:]
		}
		out.writes()
		if c.Over() {
			break
		}
	}
	if s.end != nil {
		out.say("end: %v", c.End(s.end))
	}
	if c.Over() {
		out.say("over")
	}
	if out.sent > 0 {
		out.say("%d sent", out.sent)
	}
	return out.String()
}

// greet plays a greeting.
func (s *scene) greet(cut int) string {
	var out heard
	g := mongodb.New(s.config).Greet(mongodb.Random{})
	if s.hosts > 0 {
		if err := g.Tell(s.told, s.hosts); err != nil {
			return short(err.Error())
		}
	}
	r, first := codec.NewRounds(g)
	out.shows(first)
	for _, l := range s.lines {
		for b := said(l, out.number); len(b) > 0; {
			n := min(cut, len(b))
			wrote, _, d, err := r.Feed(nil, b[:n])
			for ; err == nil && r.Works(); wrote, _, d, err = r.Feed(wrote, nil) {
			}
			out.shows(wrote)
			switch {
			case err != nil:
				out.say("%s", short(err.Error()))
				return out.String()
			case d != nil:
				out.say("begins: %+v", g.Server())
				return out.String()
			}
			b = b[n:]
		}
	}
	if s.end != nil {
		out.say("end: %v", r.End(s.end))
	}
	return out.String()
}

// heard writes down what a connection says and writes.
type heard struct {
	strings.Builder
	conn   *mongodb.Conn
	number int // of the last message that went out
	sent   uint64
}

func (h *heard) say(format string, values ...any) { fmt.Fprintf(h, format+"\n", values...) }

// shows shows the messages that go out.
func (h *heard) shows(b []byte) {
	for len(b) > 0 {
		n := int(binary.LittleEndian.Uint32(b))
		h.number = int(binary.LittleEndian.Uint32(b[4:]))
		if err := bson.Check(b[21:n]); err != nil {
			h.say("-> no BSON: %v", err)
			return
		}
		text := string(bson.AppendJSON(nil, b[21:n]))
		if strings.HasPrefix(text, `{"sasl`) {
			text = string(mongodb.Describe(nil, b[:n]))
		}
		h.say("-> %d %s", h.number, text)
		b = b[n:]
	}
}

func (h *heard) writes() {
	h.shows(h.conn.Output())
	h.conn.Sent(len(h.conn.Output()))
}

func (h *heard) do(text string, keeps bool) {
	word, rest, _ := strings.Cut(text, " ")
	var cursor mongodb.Cursor
	switch word {
	case "ping":
		h.conn.Ping(7)
		h.writes()
		return
	case "leave":
		h.conn.Leave(1000, "")
		return
	case "batches":
		n, command, _ := strings.Cut(rest, " ")
		cursor.Batches, _ = strconv.Atoi(n)
		cursor.Batch, word, rest = 2, "find", command
	}
	t, err := bson.Compile(rest, nil)
	if err != nil {
		panic(err)
	}
	o := mongodb.Run(t)
	switch word {
	case "find":
		o = mongodb.Find(t, cursor)
	case "write":
		o = mongodb.Write(t)
	}
	if err := h.conn.Operate(o, mongodb.Order{Keeps: keeps, Sent: &h.sent}); err != nil {
		h.say("%v", err)
	}
	h.writes()
}

func (h *heard) Message(_ codec.MessageKind, b []byte) {
	o := h.conn.Outcome()
	h.say("answer %s documents %d batches %d affected %d", short(string(b)), o.Documents, o.Batches, o.Affected)
	if o.Err != nil {
		h.say("  %s: %s", http1.KindOf(o.Err), short(o.Err.Error()))
	}
}

func (h *heard) Pong(payload uint64)   { h.say("pong %d", payload) }
func (h *heard) Leaves(uint16, string) {}

func short(s string) string {
	if len(s) > 300 {
		return s[:300] + "..."
	}
	return s
}
