package redis_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/redis"
)

// value is what a server answers: nil, string, int64, float64, bool, failure, []any, pairs.
type (
	failure string
	pairs   []any // keys and values in turn
)

var texts = rapid.OneOf(rapid.StringN(0, 20, 60), rapid.Just(""), rapid.Just("a\r\nb"), rapid.Map(rapid.IntRange(1, 5000), func(n int) string { return strings.Repeat("é", n) }))

func values(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		kinds := 6
		if depth > 0 {
			kinds = 8
		}
		switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
		case 0:
			return nil
		case 1:
			return rapid.Int64().Draw(t, "integer")
		case 2:
			return rapid.Float64Range(-1e9, 1e9).Draw(t, "double")
		case 3:
			return rapid.Bool().Draw(t, "bool")
		case 4:
			return failure("ERR " + rapid.StringMatching("[a-z ]{0,20}").Draw(t, "error"))
		case 6:
			return rapid.SliceOfN(values(depth-1), 0, 4).Draw(t, "list")
		case 7:
			var all pairs
			for i := range rapid.IntRange(0, 3).Draw(t, "pairs") {
				all = append(all, fmt.Sprint("k", i), values(depth-1).Draw(t, "value"))
			}
			return all
		}
		return texts.Draw(t, "text")
	})
}

// appendValue writes a value as a server may, with pushes and attributes where they may stand.
func appendValue(t *rapid.T, b []byte, v any, top bool) []byte {
	if top && rapid.IntRange(0, 4).Draw(t, "push") == 0 {
		b = append(b, ">2\r\n+message\r\n*1\r\n-ERR none\r\n"...)
	}
	if rapid.IntRange(0, 6).Draw(t, "attribute") == 0 {
		b = append(b, "|1\r\n+ttl\r\n|0\r\n:1\r\n"...)
	}
	way := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "way") }
	line := func(kind byte, text string) []byte { return append(append(append(b, kind), text...), "\r\n"...) }
	bulk := func(kind byte, text string) []byte { return fmt.Appendf(b, "%c%d\r\n%s\r\n", kind, len(text), text) }
	many := func(kind byte, n int, each []any) []byte {
		streamed := way(2) == 0
		if b = fmt.Appendf(b, "%c%d\r\n", kind, n); streamed {
			b = append(b[:len(b)-len(strconv.Itoa(n))-2], "?\r\n"...)
		}
		for _, e := range each {
			b = appendValue(t, b, e, false)
		}
		if streamed {
			b = append(b, ".\r\n"...)
		}
		return b
	}
	switch v := v.(type) {
	case nil:
		return append(b, [...]string{"_\r\n", "$-1\r\n", "*-1\r\n"}[way(3)]...)
	case int64:
		return line(':', strconv.FormatInt(v, 10))
	case float64:
		return line(',', strconv.FormatFloat(v, 'g', -1, 64))
	case bool:
		return line('#', strconv.FormatBool(v)[:1])
	case failure:
		if way(2) == 0 {
			return bulk('!', string(v))
		}
		return line('-', string(v))
	case []any:
		return many([]byte("*~")[way(2)], len(v), v)
	case pairs:
		return many('%', len(v)/2, v)
	}
	text := v.(string)
	switch way(4) {
	case 0:
		return bulk('=', "txt:"+text)
	case 1:
		b = append(b, "$?\r\n"...)
		for len(text) > 0 {
			n := rapid.IntRange(1, len(text)).Draw(t, "chunk")
			b = bulkChunk(b, text[:n])
			text = text[n:]
		}
		return append(b, ";0\r\n"...)
	case 2:
		if !strings.ContainsAny(text, "\r\n") {
			return line('+', text)
		}
	}
	return bulk('$', text)
}

func bulkChunk(b []byte, text string) []byte { return fmt.Appendf(b, ";%d\r\n%s\r\n", len(text), text) }

// view is a value as JSON reads it, and how many errors it has in it.
func view(v any) (any, int) {
	switch v := v.(type) {
	case int64:
		return json.Number(strconv.FormatInt(v, 10)), 0
	case float64:
		return json.Number(strconv.FormatFloat(v, 'g', -1, 64)), 0
	case failure:
		return string(v), 1
	case []any:
		all, wrong := []any{}, 0
		for _, e := range v {
			one, n := view(e)
			all, wrong = append(all, one), wrong+n
		}
		return all, wrong
	case pairs:
		all, wrong := map[string]any{}, 0
		for i := 0; i < len(v); i += 2 {
			one, n := view(v[i+1])
			all[v[i].(string)], wrong = one, wrong+n
		}
		return all, wrong
	}
	return v, 0
}

// kept is what a listener keeps of operations.
type kept struct {
	of       *redis.Conn
	outcomes []redis.Outcome
	pongs    []uint64
}

func (k *kept) Message(_ codec.MessageKind, b []byte) {
	o := *k.of.Outcome()
	o.Body = bytes.Clone(b)
	k.outcomes = append(k.outcomes, o)
}
func (k *kept) Pong(payload uint64)   { k.pongs = append(k.pongs, payload) }
func (k *kept) Leaves(uint16, string) {}

// REDIS-1, REDIS-3, REDIS-4, DIALOGUE-1: random pipelines get random values, cut anywhere, and
// each has its own as JSON.
func TestAnswersArrive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := redis.New(redis.Config{}).Begin()
		on := &kept{of: c}
		type wanted struct {
			keeps bool
			views []any
			wrong int
			pong  bool
			list  bool
		}
		var want []wanted
		var b []byte
		for range rapid.IntRange(0, 5).Draw(t, "operations") {
			w := wanted{keeps: rapid.Bool().Draw(t, "keeps"), pong: rapid.IntRange(0, 5).Draw(t, "ping") == 0}
			if w.pong {
				c.Ping(uint64(len(want)))
				b = append(b, "+PONG\r\n"...)
				want = append(want, w)
				continue
			}
			var commands []redis.Command
			for range rapid.IntRange(1, 4).Draw(t, "commands") {
				commands = append(commands, redis.Command{redis.Text("EVAL")})
				v := values(3).Draw(t, "value")
				one, wrong := view(v)
				w.views, w.wrong = append(w.views, one), w.wrong+wrong
				b = appendValue(t, b, v, true)
			}
			operation := redis.Compile(commands)
			if w.list = len(commands) > 1 || rapid.Bool().Draw(t, "pipeline"); w.list {
				operation = redis.Pipeline(commands)
			}
			if err := c.Operate(operation, redis.Order{Tag: uint64(len(want)), Keeps: w.keeps}); err != nil {
				t.Fatal(err)
			}
			want = append(want, w)
		}
		for len(b) > 0 {
			n := min(rapid.IntRange(1, 1+len(b)).Draw(t, "cut"), len(b))
			piece := bytes.Clone(b[:n])
			if err := c.Feed(piece, on); err != nil {
				t.Fatal(err)
			}
			clear(piece)
			b = b[n:]
		}
		if err := c.End(io.EOF); err != nil || c.Open() > 0 {
			t.Fatalf("%d are open: %v", c.Open(), err)
		}
		for i, w := range want {
			if w.pong {
				if len(on.pongs) == 0 || on.pongs[0] != uint64(i) {
					t.Fatalf("pongs %d, want %d", on.pongs, i)
				}
				on.pongs = on.pongs[1:]
				continue
			}
			got := on.outcomes[0]
			on.outcomes = on.outcomes[1:]
			if got.Tag != uint64(i) || got.Answers != len(w.views) || (got.Err != nil) != (w.wrong > 0) || w.wrong > 0 && kindOf(got.Err) != "server ERR" {
				t.Fatalf("operation %d: %+v, want %d errors", i, got, w.wrong)
			}
			if !w.keeps {
				if len(got.Body) > 0 {
					t.Fatalf("operation %d keeps %q", i, got.Body)
				}
				continue
			}
			var all any = w.views
			if !w.list {
				all = w.views[0]
			}
			d := json.NewDecoder(bytes.NewReader(got.Body))
			d.UseNumber()
			var is any
			if err := d.Decode(&is); err != nil {
				t.Fatalf("operation %d: %q: %v", i, got.Body, err)
			}
			a, _ := json.Marshal(is)
			b, _ := json.Marshal(all)
			if !bytes.Equal(a, b) {
				t.Fatalf("operation %d: %s, want %s", i, a, b)
			}
		}
		if len(on.outcomes)+len(on.pongs) > 0 {
			t.Fatalf("more than was asked: %+v", on.outcomes)
		}
	})
}

// REDIS-6, CODEC-3: the count grows with each command whose last byte is written, whatever is written
// at once, also if the connection ends in the middle. The bytes are those of the operations.
func TestOperationsGoOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := redis.New(redis.Config{}).Begin()
		var want, got []byte
		var ends []int // of commands
		sent := uint64(0)
		write := func(n int) {
			got = append(got, c.Output()[:n]...)
			c.Sent(n)
		}
		for range rapid.IntRange(1, 5).Draw(t, "operations") {
			filled := rapid.SliceOfN(rapid.Map(texts, func(s string) []byte { return []byte(s) }), 2, 2).Draw(t, "values")
			var commands []redis.Command
			for range rapid.IntRange(1, 4).Draw(t, "commands") {
				var command redis.Command
				var words []string
				for range rapid.IntRange(1, 3).Draw(t, "words") {
					var a redis.Argument
					word := ""
					for range rapid.IntRange(1, 3).Draw(t, "parts") {
						p := redis.Part{Text: texts.Draw(t, "text"), Value: rapid.IntRange(-1, 1).Draw(t, "value")}
						if a = append(a, p); p.Value >= 0 {
							p.Text += string(filled[p.Value])
						}
						word += p.Text
					}
					command, words = append(command, a), append(words, word)
				}
				commands = append(commands, command)
				want = fmt.Appendf(want, "*%d\r\n", len(words))
				for _, w := range words {
					want = fmt.Appendf(want, "$%d\r\n%s\r\n", len(w), w)
				}
				ends = append(ends, len(want))
			}
			o := redis.Compile(commands)
			if err := c.Operate(o, redis.Order{Values: filled, Sent: &sent}); err != nil || o.Commands() != len(commands) {
				t.Fatal(o.Commands(), err)
			}
			for rapid.Bool().Draw(t, "write") && c.Unsent() > 0 {
				write(rapid.IntRange(0, c.Unsent()).Draw(t, "n"))
			}
		}
		if rapid.Bool().Draw(t, "all") {
			write(c.Unsent())
		}
		if !bytes.HasPrefix(want, got) {
			t.Fatalf("%q\nwant %q", got, want)
		}
		c.Release()
		whole := uint64(0)
		for _, end := range ends {
			if end <= len(got) {
				whole++
			}
		}
		if sent != whole || c.Unsent() > 0 {
			t.Fatalf("%d commands count as sent, want %d of %d", sent, whole, len(ends))
		}
	})
}

// REDIS-2: a length that a server announces reserves nothing.
func TestMemoryIsBounded(t *testing.T) {
	for _, head := range []string{"$9223372036854775807\r\n", "*9223372036854775807\r\n", "%4611686018427387903\r\n", "~999999999\r\n", "$999999999\r\nx", "=999999999\r\ntxt", "!999999999\r\nERR"} {
		for _, most := range []int64{1 << 20, math.MaxInt64} {
			c := redis.New(redis.Config{AnswerMax: most}).Begin()
			if err := c.Operate(get, redis.Order{Keeps: true}); err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_ = c.Feed([]byte(head), &kept{of: c})
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
				t.Errorf("%d bytes for %q", n, head)
			}
		}
	}
	// What grows as JSON counts as it is written there.
	c := redis.New(redis.Config{AnswerMax: 100}).Begin()
	_ = c.Operate(get, redis.Order{Keeps: true})
	if err := c.Feed([]byte("$50\r\n"+strings.Repeat("\x01", 50)+"\r\n"), &kept{of: c}); kindOf(err) != http1.KindTooLarge {
		t.Errorf("50 bytes that JSON escapes: %v", err)
	}
}

// DIALOGUE-3: after a breach, our leave or the release nothing can be sent.
func TestWhatCannotBeSent(t *testing.T) {
	ways := map[string]func(*redis.Conn){
		"our leave":   func(c *redis.Conn) { c.Leave(1000, "") },
		"a breach":    func(c *redis.Conn) { _ = c.Feed([]byte("x"), &kept{of: c}) },
		"the release": func(c *redis.Conn) { c.Release() },
	}
	//lint:orderfree each is a test of its own
	for name, way := range ways {
		c := redis.New(redis.Config{}).Begin()
		if c.Over() {
			t.Errorf("%s: it is over before", name)
		}
		way(c)
		c.Ping(1)
		for _, err := range []error{c.Operate(get, redis.Order{}), c.Send(codec.MessageText, []byte("*1\r\n$4\r\nPING\r\n"), nil)} {
			if kindOf(err) != http1.KindClosed || c.Unsent() > 0 || !c.Over() {
				t.Errorf("%s: %v, %d bytes", name, err, c.Unsent())
			}
		}
	}
}

// Send takes whole commands, and nothing else.
func TestSend(t *testing.T) {
	c := redis.New(redis.Config{}).Begin()
	on, sent := &kept{of: c}, uint64(0)
	for _, wrong := range []string{"", "PING\r\n", "*1\r\n$4\r\nPING", "*1\r\n$4\r\nPING\r\nx", "*2\r\n$4\r\nPING\r\n", "*1\r\n$99999999999\r\nx\r\n", "*1\r\n$4\r\nPINGxx"} {
		if err := c.Send(codec.MessageText, []byte(wrong), nil); kindOf(err) != http1.KindValue || c.Unsent() > 0 {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	two := "*1\r\n$4\r\nPING\r\n*2\r\n$3\r\nGET\r\n$1\r\na\r\n"
	if err := c.Send(codec.MessageText, []byte(two), &sent); err != nil || string(c.Output()) != two {
		t.Fatal(err, c.Output())
	}
	c.Sent(c.Unsent())
	if err := c.Feed([]byte("+PONG\r\n$-1\r\n"), on); err != nil || sent != 2 || len(on.outcomes) != 1 || string(on.outcomes[0].Body) != `["PONG",null]` {
		t.Errorf("%v, %d sent, %+v", err, sent, on.outcomes)
	}
}

// An early answer ends its operation, whose bytes still count when they are gone.
func TestAnswersBeforeAllIsSent(t *testing.T) {
	c := redis.New(redis.Config{}).Begin()
	on, sent := &kept{of: c}, uint64(0)
	_ = c.Operate(get, redis.Order{Sent: &sent})
	if err := c.Feed([]byte("-ERR max number of clients reached\r\n"), on); err != nil || len(on.outcomes) != 1 || sent != 0 {
		t.Fatal(err, on.outcomes, sent)
	}
	if c.Sent(c.Unsent()); sent != 1 {
		t.Error(sent)
	}
}

// Pushes over time are no flood.
func TestPushesOverTime(t *testing.T) {
	c := redis.New(redis.Config{}).Begin()
	for range 5 {
		if err := c.Feed([]byte(strings.Repeat(">1\r\n+x\r\n", 1000)), &kept{of: c}); err != nil {
			t.Fatal(err)
		}
		c.Rest()
	}
}

// A greeting's surplus answer, which came before any operation, is not the first one's.
func TestSurplusOfAGreeting(t *testing.T) {
	g := redis.New(redis.Config{Database: 1}).Greet()
	if _, _, d, err := g.Hear(nil, []byte("+OK\r\n+OK\r\n")); kindOf(err) != http1.KindProtocol || d != nil {
		t.Errorf("%v %v", d, err)
	}
}

// REDIS-7: a server that repeats the password does not put it into the error, and a description of a
// command hides it.
func TestPasswordsAreHidden(t *testing.T) {
	g := redis.New(redis.Config{User: "app", Password: "geheim"}).Greet()
	if _, _, _, err := g.Hear(nil, []byte("-WRONGPASS no user app with geheim\r\n")); kindOf(err) != http1.KindAuth || strings.Contains(err.Error(), "geheim") || !strings.Contains(err.Error(), "***") {
		t.Error(err)
	}
	for _, one := range [][2]string{
		{"AUTH geheim", "AUTH ***"},
		{"auth app geheim", "auth *** ***"},
		{"HELLO 3 AUTH app geheim SETNAME x", "HELLO 3 AUTH app *** SETNAME x"},
		{"HELLO 3", "HELLO 3"},
		{"ACL SETUSER app on >geheim #abc +@all ~*", "ACL SETUSER app on *** *** +@all ~*"},
		{"CONFIG SET maxmemory 1gb requirepass geheim", "CONFIG SET maxmemory 1gb requirepass ***"},
		{"MIGRATE h 6379 k 0 500 AUTH2 app geheim", "MIGRATE h 6379 k 0 500 AUTH2 app ***"},
		{"MIGRATE h 6379 k 0 500 AUTH geheim", "MIGRATE h 6379 k 0 500 AUTH ***"},
		{"SET auth geheim", "SET auth geheim"},
		{"GET a ; SET b c", "GET a; SET b c"},
	} {
		o := operation(one[0])
		if got := string(redis.Describe(nil, o.Append(nil, nil), true)); got != one[1] {
			t.Errorf("%q, want %q", got, one[1])
		}
	}
	o := redis.Compile([]redis.Command{{redis.Text("SET"), redis.Text("a b"), redis.Text("")}})
	if got := string(redis.Describe(nil, append(o.Append(nil, nil), "*1\r\n$3"...), true)); got != `SET "a b" ""` {
		t.Errorf("%s", got)
	}
}

var (
	get  = redis.Compile([]redis.Command{{redis.Text("GET"), redis.Text("key:000000000042")}})
	open = redis.Compile([]redis.Command{{redis.Text("GET"), {{Text: "key:", Value: -1}, {Value: 0}}}})
	pipe = func() *redis.Operation {
		var all []redis.Command
		for range 16 {
			all = append(all, redis.Command{redis.Text("SET"), redis.Text("key:000000000042"), redis.Text("xxx")})
		}
		return redis.Compile(all)
	}()
)

// deaf reads nothing.
type deaf struct{ n int }

func (d *deaf) Message(codec.MessageKind, []byte) { d.n++ }
func (d *deaf) Pong(uint64)                       { d.n++ }
func (d *deaf) Leaves(uint16, string)             { d.n++ }

// steady is a steady state: an operation out, its answers in.
type steady struct {
	name  string
	of    *redis.Operation
	in    []byte
	keeps bool
	cut   int
}

var steadies = []steady{
	{name: "a GET", of: get, in: []byte("$3\r\nxxx\r\n")},
	{name: "a GET with a value", of: open, in: []byte("$3\r\nxxx\r\n")},
	{name: "a GET that is read", of: open, in: []byte("$3\r\nxxx\r\n"), keeps: true},
	{name: "a GET in pieces", of: get, in: []byte("$3\r\nxxx\r\n"), cut: 1},
	{name: "a GET in pieces that is read", of: get, in: []byte("$3\r\nxxx\r\n"), cut: 1, keeps: true},
	{name: "a GET of 16 KiB", of: get, in: []byte("$16384\r\n" + strings.Repeat("x", 16<<10) + "\r\n")},
	{name: "16 SETs", of: pipe, in: []byte(strings.Repeat("+OK\r\n", 16))},
	{name: "a list of 100", of: get, in: []byte("*100\r\n" + strings.Repeat("$3\r\nxxx\r\n", 100))},
	{name: "a list of 100 that is read", of: get, in: []byte("*100\r\n" + strings.Repeat("$3\r\nxxx\r\n", 100)), keeps: true},
}

func (s *steady) run(c *redis.Conn, on codec.Listener, with redis.Order) error {
	if err := c.Operate(s.of, with); err != nil {
		return err
	}
	c.Sent(len(c.Output()))
	for b := s.in; len(b) > 0; {
		n := len(b)
		if s.cut > 0 {
			n = min(s.cut, n)
		}
		if err := c.Feed(b[:n], on); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// REDIS-5.
func TestOperationsAllocateNothing(t *testing.T) {
	for _, s := range steadies {
		c, on, sent := redis.New(redis.Config{}).Begin(), &deaf{}, uint64(0)
		with := redis.Order{Keeps: s.keeps, Sent: &sent, Values: [][]byte{[]byte("000000000042")}}
		n := testing.AllocsPerRun(50, func() {
			if err := s.run(c, on, with); err != nil {
				t.Fatal(err)
			}
		})
		if n > 0 {
			t.Errorf("%s: %v allocations", s.name, n)
		}
		if sent != uint64(on.n*s.of.Commands()) {
			t.Errorf("%s: %d sent, %d answered", s.name, sent, on.n)
		}
	}
}

// REDIS-5: connections that are idle hold no buffer: one pool serves a thousand.
func TestIdleConnectionsShareMemory(t *testing.T) {
	p := redis.New(redis.Config{})
	all, on := make([]*redis.Conn, 1000), &deaf{}
	for i := range all {
		all[i] = p.Begin()
	}
	with := redis.Order{Keeps: true, Values: [][]byte{[]byte("x")}}
	play := func() {
		for _, c := range all {
			for _, s := range steadies {
				if err := s.run(c, on, with); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	play()
	if n := testing.AllocsPerRun(8, play); n > 0 {
		t.Errorf("%v allocations for 1,000 connections", n)
	}
}

func BenchmarkOperation(b *testing.B) {
	for _, s := range steadies {
		b.Run(s.name, func(b *testing.B) {
			b.ReportAllocs()
			c, on := redis.New(redis.Config{}).Begin(), &deaf{}
			with := redis.Order{Keeps: s.keeps, Values: [][]byte{[]byte("000000000042")}}
			for b.Loop() {
				if err := s.run(c, on, with); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(len(s.in)))
		})
	}
}

// FuzzFeed feeds any bytes, at once and in pieces, read and unread: no panic, the same outcome, no
// answer beyond the limit, and each is JSON.
// A greeting that comes in pieces is the one that comes at once, and no error tells the password.
func FuzzGreeting(f *testing.F) {
	for _, seed := range []string{"%1\r\n+server\r\n+redis\r\n+OK\r\n+OK\r\n", "-NOAUTH x\r\n", "-ERR unknown command 'HELLO'\r\n", "*2\r\n+a\r\n+b\r\n-WRONGPASS hush\r\n", "+OK\r\n+OK\r\n+OK\r\n>1\r\n+x\r\n", "$-1\r\n:1\r\n"} {
		f.Add([]byte(seed), uint8(1), uint8(3))
	}
	f.Fuzz(func(t *testing.T, b []byte, how, cut uint8) {
		c := redis.Config{AnswerMax: 1 << 10, User: "app", Password: "hush-hush"}
		if how&1 != 0 {
			c.Version = 3
		}
		if how&2 != 0 {
			c.Database = 3
		}
		const unasked = "more than the greeting was answered"
		play := func(most int) string {
			rounds, out := codec.NewRounds(redis.New(c).Greet())
			for rest := bytes.Clone(b); len(rest) > 0; {
				n := min(most, len(rest))
				said, behind, d, err := rounds.Feed(out, rest[:n])
				if out, rest = said, rest[n:]; err != nil {
					if strings.Contains(err.Error(), c.Password) {
						t.Fatalf("the error tells the password: %v", err)
					}
					return strings.ReplaceAll(err.Error(), "protocol: the server sent an answer that no command asked for", unasked)
				}
				if d == nil {
					continue
				}
				if rest = append(bytes.Clone(behind), rest...); len(rest) > 0 && rest[0] != '>' {
					return unasked // the connection finds it, if the greeting does not
				}
				if err := d.Feed(rest, &kept{of: d.(*redis.Conn)}); err != nil {
					return "begun, then " + err.Error()
				}
				return "begun"
			}
			return "more"
		}
		if a, b := play(len(b)+1), play(int(cut)+1); a != b {
			t.Fatalf("%s\n%s", a, b)
		}
	})
}

func FuzzFeed(f *testing.F) {
	for _, seed := range []string{
		"+OK\r\n-ERR x\r\n:1\r\n$3\r\nabc\r\n", "*2\r\n$-1\r\n*-1\r\n_\r\n", "%1\r\n+k\r\n~1\r\n#t\r\n", ">1\r\n+x\r\n|1\r\n+a\r\n+b\r\n,1.5\r\n(12\r\n",
		"$?\r\n;2\r\nab\r\n;0\r\n*?\r\n.\r\n", "!5\r\nERR x\r\n=5\r\ntxt:x\r\n", "%1\r\n%1\r\n:1\r\n:2\r\n:3\r\n", "$99\r\nx", "*1\r\n*1\r\n*1\r\n", "+\r\n",
	} {
		f.Add([]byte(seed), uint8(1))
	}
	f.Fuzz(func(t *testing.T, b []byte, cut uint8) {
		const limit = 1 << 10
		play := func(n int, keeps bool) string {
			c := redis.New(redis.Config{AnswerMax: limit}).Begin()
			on := &kept{of: c}
			_ = c.Operate(get, redis.Order{Keeps: keeps})
			_ = c.Operate(operation("MGET a ; GET b"), redis.Order{Keeps: keeps})
			_ = c.Operate(get, redis.Order{Keeps: keeps})
			c.Ping(7)
			var err error
			for rest := b; len(rest) > 0 && err == nil; {
				piece := bytes.Clone(rest[:min(n, len(rest))])
				rest = rest[len(piece):]
				err = c.Feed(piece, on)
				clear(piece)
			}
			if err == nil {
				err = c.End(io.EOF)
			}
			out := ""
			for _, o := range on.outcomes {
				if len(o.Body) > 2*limit || keeps && (!json.Valid(o.Body) || !utf8.Valid(o.Body)) || o.Err != nil && !strings.HasPrefix(string(kindOf(o.Err)), "server ") {
					t.Fatalf("%q %v", o.Body, o.Err)
				}
				out += fmt.Sprintf("%s %d %d %v\n", o.Body, o.Hits, o.Misses, o.Err)
			}
			if err != nil && kindOf(err) == http1.KindOther {
				t.Fatalf("%v has no kind", err)
			}
			return out + fmt.Sprint(on.pongs, err)
		}
		whole := play(len(b), true)
		if pieces := play(int(max(cut, 1)), true); whole != pieces {
			t.Fatalf("whole: %s\nin pieces of %d: %s", whole, cut, pieces)
		}
		if at, pieces := play(len(b), false), play(int(max(cut, 1)), false); at != pieces {
			t.Fatalf("unread, whole: %s\nin pieces of %d: %s", at, cut, pieces)
		}
	})
}
