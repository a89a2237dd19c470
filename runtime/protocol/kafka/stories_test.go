package kafka_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/kafka"
	"hyperscale/runtime/protocol/kafka/group"
)

// Stories give a greeting and operations, the broker's answers, and the outcome, which must be the same
// whether the bytes come at once or in pieces.
//
//	talk [group] [limit=N] [produce=VERSION] [metadata=VERSION] [fetch=VERSION] [idempotent] [end=eof|reset]
//	greet [user=NAME] [password=WORD] [sasl=plain|scram|oauth] [end=eof|reset]
//
// A line with > queues an operation (produce TOPIC KEY VALUE, half TOPIC KEY VALUE, which writes a half of it, unanswered TOPIC VALUE, learn TOPIC, or fetch, again
// and locate with TOPIC@PARTITION@OFFSET), or does
// "forget", "leave", "bytes", or asks as member m of the group load (find, join, sync, beat, commit, offsets), or lets
// that member's SECOND come (tick SECOND). One with < is an answer to request NUMBER: fields of Kafka, as in i16:6 or
// text:orders. "<<" are raw bytes, escaped as in Go.
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
	config            kafka.Config
	produce, metadata int
	fetch             int
	grouped           bool // the broker has groups
	end               error
	lines             []line
}

type line struct {
	does  string
	bytes []byte
}

func (s *scene) read(t *testing.T, d *datadriven.TestData) {
	s.produce, s.metadata, s.fetch = 8, 4, 11
	for _, a := range d.CmdArgs {
		switch value := strings.Join(a.Vals, ", "); a.Key {
		case "limit":
			s.config.AnswerMax, _ = strconv.ParseInt(value, 10, 64)
		case "produce":
			s.produce, _ = strconv.Atoi(value)
		case "idempotent":
			s.config.Idempotent = true
		case "group":
			s.grouped = true
		case "fetch":
			s.fetch, _ = strconv.Atoi(value)
		case "metadata":
			s.metadata, _ = strconv.Atoi(value)
		case "user":
			s.config.User = value
		case "password":
			s.config.Password = value
		case "sasl":
			s.config.Mechanism = map[string]kafka.Mechanism{"plain": kafka.PLAIN, "scram": kafka.SCRAMSHA256, "oauth": kafka.OAUTHBEARER}[value]
		case "end":
			s.end = map[string]error{"eof": io.EOF, "reset": errors.New("reset")}[value]
		default:
			d.Fatalf(t, "no argument is called %q", a.Key)
		}
	}
	for text := range strings.Lines(d.Input) {
		text = strings.TrimSuffix(text, "\n")
		switch sign, rest, _ := strings.Cut(text, " "); sign {
		case ">":
			s.lines = append(s.lines, line{does: rest})
		case "<":
			s.lines = append(s.lines, line{bytes: answer(rest)})
		default:
			said, err := strconv.Unquote(`"` + rest + `"`)
			if err != nil || sign != "<<" {
				d.Fatalf(t, "%q: %v", text, err)
			}
			s.lines = append(s.lines, line{bytes: []byte(said)})
		}
	}
}

// answer makes an answer of a number and of fields.
func answer(text string) []byte {
	words := strings.Fields(text)
	number, _ := strconv.Atoi(words[0])
	b := binary.BigEndian.AppendUint32([]byte{0, 0, 0, 0}, uint32(number))
	for _, w := range words[1:] {
		kind, value, _ := strings.Cut(w, ":")
		n, _ := strconv.ParseInt(value, 10, 64)
		switch kind {
		case "i8":
			b = append(b, byte(n))
		case "i16":
			b = binary.BigEndian.AppendUint16(b, uint16(n))
		case "i32":
			b = binary.BigEndian.AppendUint32(b, uint32(n))
		case "i64":
			b = binary.BigEndian.AppendUint64(b, uint64(n))
		case "text":
			b = append(binary.BigEndian.AppendUint16(b, uint16(len(value))), value...)
		case "records":
			of := records(value)
			b = append(binary.BigEndian.AppendUint32(b, uint32(len(of))), of...)
		case "bytes":
			b = append(binary.BigEndian.AppendUint32(b, uint32(len(value))), value...)
		default:
			panic("no field is called " + kind)
		}
	}
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

// hello is a broker's answer to ApiVersions.
func hello(produce, metadata int) []byte { return helloAll(produce, 11, metadata) }

func helloAll(produce, fetch, metadata int) []byte {
	return answer(fmt.Sprintf("1 i16:0 i32:4 i16:0 i16:0 i16:%d i16:1 i16:0 i16:%d i16:2 i16:0 i16:5 i16:3 i16:0 i16:%d", produce, fetch, metadata))
}

// hello is what a broker says before the operations of a story. Its first producer is number 7.
func (s *scene) hello() []byte {
	b := helloAll(s.produce, s.fetch, s.metadata)
	if s.grouped {
		b = answer("1 i16:0 i32:9 i16:1 i16:4 i16:12 i16:3 i16:0 i16:4 i16:8 i16:2 i16:9 i16:9 i16:1 i16:9 i16:10 i16:0 i16:6 i16:11 i16:2 i16:9 i16:12 i16:0 i16:4 i16:13 i16:0 i16:1 i16:14 i16:0 i16:5")
	}
	if s.config.Idempotent {
		b = append(answer("1 i16:0 i32:3 i16:0 i16:0 i16:8 i16:3 i16:0 i16:4 i16:22 i16:0 i16:4"), answer("2 i32:0 i16:0 i64:7 i16:3")...)
	}
	return b
}

// talk plays operations on a connection that is greeted.
func (s *scene) talk(cut int) string {
	var out heard
	greeting := kafka.New(s.config).Greet(kafka.Random{})
	if s.grouped {
		greeting.Attend(&out)
	}
	_, rest, d, err := greetedBy(greeting, s.hello())
	if err != nil || len(rest) > 0 {
		return fmt.Sprint("greeting: ", err)
	}
	c := d.(*kafka.Conn)
	out.conn = c
	for _, l := range s.lines {
		if l.does != "" {
			out.do(l.does)
			continue
		}
		for b := l.bytes; len(b) > 0; {
			n := min(cut, len(b))
			if err := c.Feed(b[:n], &out); err != nil {
				out.say("%s", short(err.Error()))
				return out.String()
			}
			b = b[n:]
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

// greeted runs a greeting whose broker says all at once.
func greeted(p *kafka.Protocol, says []byte) (wrote, rest []byte, d codec.Dialogue, err error) {
	return greetedBy(p.Greet(kafka.Random{}), says)
}

func greetedBy(g codec.Greeting, says []byte) (wrote, rest []byte, d codec.Dialogue, err error) {
	r, wrote := codec.NewRounds(g)
	wrote, rest, d, err = r.Feed(wrote, says)
	return wrote, rest, d, err
}

// greet plays a greeting.
func (s *scene) greet(cut int) string {
	var out heard
	r, first := codec.NewRounds(kafka.New(s.config).Greet(kafka.Random{}))
	out.shows(first)
	for _, l := range s.lines {
		for b := l.bytes; len(b) > 0; {
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
				out.say("begins")
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
	conn *kafka.Conn
	raw  bool
	sent uint64
}

func (h *heard) say(format string, values ...any) { fmt.Fprintf(h, format+"\n", values...) }

func (h *heard) shows(b []byte) {
	if len(b) == 0 {
		return
	}
	if h.raw {
		for ; len(b) > 16; b = b[16:] {
			h.say("-> % x", b[:16])
		}
		h.say("-> % x", b)
		return
	}
	h.say("-> %s, %d B", kafka.Describe(nil, b), len(b))
}

func (h *heard) do(text string) {
	words := strings.SplitN(text, " ", 4)
	m := kafka.Message{Acks: kafka.AcksAll}
	with := kafka.Order{Keeps: true, Now: 1_700_000_000_000, Sent: &h.sent}
	switch words[0] {
	case "forget":
		h.say("forgets %v", h.conn.Forget())
	case "leave":
		h.conn.Leave(1000, "")
	case "bytes":
		h.raw = true
	case "learn":
		if err := h.conn.Learn(words[1], with); err != nil {
			h.say("%v", err)
		}
	case "fetch", "again", "locate":
		all := positions(text)
		err := error(nil)
		if words[0] == "locate" {
			err = h.conn.Locate(all)
		} else {
			err = h.conn.Fetch(all, kafka.Window{Wait: 500, Bytes: 1 << 20, Again: words[0] == "again"})
		}
		if err != nil {
			h.say("%v", err)
		}
		h.say("owes %v", h.conn.Owes())
	case "find", "join", "sync", "beat", "commit", "offsets":
		if err := h.conn.Ask(asked(words[0]), false); err != nil {
			h.say("%v", err)
		}
	case "tick":
		second, _ := strconv.Atoi(words[1])
		if _, err := h.conn.Tick(int64(second)); err != nil {
			h.say("%v", err)
		}
	case "zstd", "gzip", "snappy":
		m.Compression = map[string]kafka.Compression{"zstd": kafka.Zstd, "gzip": kafka.Gzip, "snappy": kafka.Snappy}[words[0]]
		fallthrough
	case "produce", "half", "unanswered":
		if words[0] == "unanswered" {
			m.Acks = kafka.AcksNone
		}
		m.Topic, m.Key, m.Value = kafka.Plain(words[1]), kafka.Plain(words[2]), kafka.Plain(words[3])
		m.Headers = []kafka.Field{{Name: "v", Value: kafka.Plain("1")}}
		if err := h.conn.Produce(kafka.Prepare(m), 2, with); err != nil {
			h.say("%v", err)
		}
	default:
		h.say("nothing does %q", words[0])
	}
	h.shows(h.conn.Output())
	if words[0] == "half" {
		h.conn.Sent(len(h.conn.Output()) / 2)
		return
	}
	h.conn.Sent(len(h.conn.Output()))
}

var _ kafka.Attendant = (*heard)(nil)

// asked is a request of the member m of the group load.
func asked(word string) group.Request {
	m := group.Membership{Group: "load", Member: "m", Generation: 3}
	at := []group.Place{{Topic: "orders", Partition: 1, Offset: 41}}
	switch word {
	case "find":
		return group.Find("load")
	case "join":
		return group.Join(m, group.Range, []string{"orders"})
	case "sync":
		return group.Sync(m, []group.Assignment{{Member: "m", Places: at}})
	case "commit":
		return group.Commit(m, at)
	case "offsets":
		return group.Fetch("load", at)
	case "leave":
		return group.Leave(m)
	}
	return group.Beat(m)
}

func (h *heard) Arrives() {}

func (h *heard) Tick(int64) *group.Request {
	r := asked("beat")
	return &r
}

func (h *heard) Departs() []group.Request { return []group.Request{asked("commit"), asked("leave")} }

func (h *heard) Answered(a group.Answer) { h.say("beside: %v %d", a.Of, a.Code) }

func positions(text string) (all []kafka.Position) {
	for _, word := range strings.Fields(text)[1:] {
		part := strings.Split(word, "@")
		at, _ := strconv.Atoi(part[1])
		offset, _ := strconv.ParseInt(part[2], 10, 64)
		all = append(all, kafka.Position{Topic: part[0], Partition: int32(at), Offset: offset})
	}
	return all
}

// found writes down what was found of a position.
func (h *heard) found(f *kafka.Found) {
	fmt.Fprintf(h, "\n  %d: next %d, end %d, %d batches", f.At, f.Next, f.End, f.Batches)
	for i := range f.Records {
		r := &f.Records[i]
		fmt.Fprintf(h, ", %d=%s %d", r.Offset, r.Value, r.Time)
		r.Headers(func(name, value []byte) { fmt.Fprintf(h, " %s=%s", name, value) })
	}
	if f.Err != nil {
		fmt.Fprintf(h, ", %s", f.Err)
	}
	if f.Moved {
		h.WriteString(", moved")
	}
}

func (h *heard) Message(_ codec.MessageKind, b []byte) {
	o := h.conn.Outcome()
	fmt.Fprintf(h, "answer %s", short(string(b)))
	if l := o.Layout; l != nil {
		fmt.Fprintf(h, "brokers %v leaders %v", l.Brokers, l.Leaders)
	}
	if o.Err != nil {
		fmt.Fprintf(h, " %s", short(o.Err.Error()))
		if http1.KindOf(o.Err) == http1.KindOther {
			h.WriteString(" without a kind")
		}
	}
	if o.Moved {
		h.WriteString(" moved")
	}
	for i := range o.Found {
		h.found(&o.Found[i])
	}
	if g := o.Group; g.Of != 0 {
		fmt.Fprintf(h, "\n  %v %d %s", g.Of, g.Code, g.Host)
		if g.Of == group.JoinGroup {
			fmt.Fprintf(h, " %+v", g.Joined)
		}
		for _, p := range g.Places {
			fmt.Fprintf(h, " %s@%d@%d", p.Topic, p.Partition, p.Offset)
		}
	}
	if o.Throttled > 0 {
		fmt.Fprintf(h, " throttled %d", o.Throttled)
	}
	h.WriteByte('\n')
}

func (h *heard) Pong(uint64)           {}
func (h *heard) Leaves(uint16, string) {}

func short(s string) string {
	if len(s) > 200 {
		return s[:200] + "..."
	}
	return s
}
