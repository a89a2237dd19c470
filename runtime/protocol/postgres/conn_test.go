package postgres_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/postgres"
)

// kept is what a listener keeps of operations.
type kept struct {
	of       *postgres.Conn
	outcomes []postgres.Outcome
	pongs    []uint64
}

func (k *kept) Message(_ codec.MessageKind, b []byte) {
	o := *k.of.Outcome()
	o.Body = bytes.Clone(b)
	k.outcomes = append(k.outcomes, o)
}
func (k *kept) Pong(payload uint64)   { k.pongs = append(k.pongs, payload) }
func (k *kept) Leaves(uint16, string) {}

// wanted is what becomes of an operation.
type wanted struct {
	rows, affected uint64
	kind           http1.Kind
	body           string
}

// expects says what becomes of statements that the twin runs.
func expects(mode postgres.Mode, all []postgres.Statement, whole, keeps bool, values [][]byte) (w wanted) {
	last := []string{}
	for _, s := range all {
		verb, rest, _ := strings.Cut(s.Text, " ")
		n := 0
		_, _ = fmt.Sscan(rest, &n)
		kind := http1.KindNone
		switch verb {
		case "select":
			value := "null"
			if len(s.Args) > 0 && s.Args[0] != nil && mode != postgres.ModeSimple {
				text := ""
				for _, p := range s.Args[0] {
					if text += p.Text; p.Value >= 0 {
						text += string(values[p.Value])
					}
				}
				value = `"` + text + `"`
			}
			last = last[:0]
			for range n {
				last = append(last, `{"a":`+value+`}`)
			}
			w.rows += uint64(n)
		case "update":
			w.affected += uint64(n)
		case "fail":
			kind = "server 22012"
		case "broken":
			kind = "server 42601"
		}
		// A select that fails is described before: there is none.
		if kind != http1.KindNone {
			if w.kind == http1.KindNone {
				w.kind = kind
			}
			if whole {
				break
			}
		}
	}
	if keeps {
		w.body = "[" + strings.Join(last, ",") + "]"
	}
	return w
}

// POSTGRES-1, POSTGRES-3, POSTGRES-4, POSTGRES-6, POSTGRES-8, DIALOGUE-1: random operations of random
// statements, their bytes written and answered in any pieces, have the outcomes that they should.
func TestOperationsAreAnswered(t *testing.T) {
	words := rapid.StringMatching("[a-z]{0,9}")
	rapid.Check(t, func(rt *rapid.T) {
		c := postgres.New(postgres.Config{}).Begin()
		server := &twin{t: t, prepared: map[string]string{}}
		on := &kept{of: c}
		var want []wanted
		sent, pings := uint64(0), 0
		drain := func() {
			var answers []byte
			for c.Unsent() > 0 {
				n := rapid.IntRange(1, c.Unsent()).Draw(rt, "n")
				if rapid.Bool().Draw(rt, "all") {
					n = c.Unsent()
				}
				answers = append(answers, c.Output()[:n]...)
				c.Sent(n)
			}
			answers = server.serve(answers)
			for len(answers) > 0 {
				n := rapid.IntRange(1, len(answers)).Draw(rt, "cut")
				piece := bytes.Clone(answers[:n])
				if err := c.Feed(piece, on); err != nil {
					rt.Fatal(err)
				}
				clear(piece)
				answers = answers[n:]
			}
		}
		for range rapid.IntRange(1, 8).Draw(rt, "operations") {
			if rapid.IntRange(0, 9).Draw(rt, "ping") == 0 {
				c.Ping(uint64(pings))
				pings++
			}
			mode := rapid.SampledFrom([]postgres.Mode{postgres.ModePrepared, postgres.ModePrepared, postgres.ModeUnnamed, postgres.ModeSimple}).Draw(rt, "mode")
			whole, keeps := rapid.Bool().Draw(rt, "whole"), rapid.Bool().Draw(rt, "keeps")
			values := [][]byte{[]byte(words.Draw(rt, "value")), []byte(words.Draw(rt, "value"))}
			var all []postgres.Statement
			for range rapid.IntRange(1, 4).Draw(rt, "statements") {
				s := postgres.Statement{Text: rapid.SampledFrom([]string{"select 0", "select 1", "select 3", "update 0", "update 2", "fail", "broken", "select 2 x"}).Draw(rt, "text")}
				for range rapid.IntRange(0, 2).Draw(rt, "args") {
					if mode == postgres.ModeSimple {
						break
					}
					var a postgres.Argument
					for range rapid.IntRange(0, 2).Draw(rt, "parts") {
						a = append(a, postgres.Part{Text: words.Draw(rt, "part"), Value: rapid.IntRange(-1, 1).Draw(rt, "value")})
					}
					s.Args = append(s.Args, a)
				}
				all = append(all, s)
			}
			order := postgres.Order{Tag: uint64(len(want)), Keeps: keeps, Values: values, Sent: &sent}
			if err := c.Operate(postgres.Compile(mode, all, whole), order); err != nil {
				rt.Fatal(err)
			}
			want = append(want, expects(mode, all, whole, keeps, values))
			if want[len(want)-1].kind != http1.KindNone || rapid.Bool().Draw(rt, "drain") {
				drain() // what is queued behind one that prepares nothing fails with it
			}
		}
		drain()
		if sent != uint64(len(want)) || len(on.pongs) != pings || len(on.outcomes) != len(want) || c.Open() > 0 || c.Over() {
			rt.Fatalf("%d operations: %d are sent, %d answered, %d pongs of %d", len(want), sent, len(on.outcomes), len(on.pongs), pings)
		}
		for i, w := range want {
			o := on.outcomes[i]
			got := wanted{o.Rows, o.Affected, kindOf(o.Err), string(o.Body)}
			if o.Tag != uint64(i) || got != w {
				rt.Fatalf("operation %d: %+v (%v), want %+v", i, got, o.Err, w)
			}
		}
	})
}

// POSTGRES-2, POSTGRES-8: of many statements the connection keeps some, closes the oldest, and
// prepares it again. A failed transaction does not confuse it.
func TestManyStatements(t *testing.T) {
	c := postgres.New(postgres.Config{}).Begin()
	server := &twin{t: t, prepared: map[string]string{}}
	on := &kept{of: c}
	play := func(whole bool, texts ...string) {
		var all []postgres.Statement
		for _, text := range texts {
			all = append(all, postgres.Statement{Text: text})
		}
		if err := c.Operate(postgres.Compile(postgres.ModePrepared, all, whole), postgres.Order{}); err != nil {
			t.Fatal(err)
		}
		answer := server.serve(c.Output())
		c.Sent(c.Unsent())
		if err := c.Feed(answer, on); err != nil {
			t.Fatal(err)
		}
		if code := string(kindOf(on.outcomes[len(on.outcomes)-1].Err)); code == "server 42P05" || code == "server 26000" {
			t.Fatalf("%q: %s", texts, code)
		}
	}
	for range 2 {
		for i := range 600 {
			play(false, fmt.Sprint("select 1 ", i))
			play(true, fmt.Sprint("update 1 ", i), "fail", fmt.Sprint("update 2 ", i), fmt.Sprint("update 3 ", i))
			play(true, fmt.Sprint("update 3 ", i), "broken", fmt.Sprint("update 2 ", i))
		}
	}
	if n := len(server.prepared); n > 256 || n < 200 {
		t.Errorf("the server keeps %d statements", n)
	}
	before := server.parses
	play(false, "select 1 599")
	if server.parses != before {
		t.Error("it prepares again what it has")
	}
}

// POSTGRES-2: a length that a server announces reserves nothing.
func TestMemoryIsBounded(t *testing.T) {
	for _, head := range []string{"D\x00\xff\xff\xff", "T\x00\xff\xff\xff", "E\x00\xff\xff\xff", "N\x00\x0f\xff\xff", "C\x7f\xff\xff\xff"} {
		for _, most := range []int64{1 << 25, math.MaxInt64} {
			c := postgres.New(postgres.Config{AnswerMax: most}).Begin()
			if err := c.Operate(read, postgres.Order{Keeps: true}); err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_ = c.Feed([]byte(head+"xx"), &kept{of: c})
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
				t.Errorf("%d bytes for %q", n, head)
			}
		}
	}
	// What grows as JSON counts as it is written there.
	c := postgres.New(postgres.Config{AnswerMax: 200}).Begin()
	_ = c.Operate(read, postgres.Order{Keeps: true})
	if err := c.Feed(wires(t, "1;2;T a:25;D "+strings.Repeat(`\x01`, 60)), &kept{of: c}); kindOf(err) != http1.KindTooLarge {
		t.Errorf("60 bytes that JSON escapes: %v", err)
	}
}

// DIALOGUE-3: after a breach, our leave or the release nothing can be sent; our leave says goodbye.
func TestWhatCannotBeSent(t *testing.T) {
	ways := map[string]func(*postgres.Conn){
		"our leave":     func(c *postgres.Conn) { c.Leave(1000, "") },
		"a breach":      func(c *postgres.Conn) { _ = c.Feed([]byte("x"), &kept{of: c}) },
		"a fatal error": func(c *postgres.Conn) { _ = c.Feed(wire(t, "E FATAL 57P01 bye"), &kept{of: c}) },
		"the release":   func(c *postgres.Conn) { c.Release() },
	}
	//lint:orderfree each is a test of its own
	for name, way := range ways {
		c := postgres.New(postgres.Config{}).Begin()
		if c.Over() {
			t.Errorf("%s: it is over before", name)
		}
		way(c)
		bye := string(c.Output())
		if want := map[bool]string{true: "X\x00\x00\x00\x04"}[name == "our leave"]; bye != want {
			t.Errorf("%s: it says %q", name, bye)
		}
		c.Ping(1)
		c.Leave(1000, "")
		for _, err := range []error{c.Operate(read, postgres.Order{}), c.Send(codec.MessageText, []byte("select 1"), nil)} {
			if kindOf(err) != http1.KindClosed || c.Unsent() > len(bye) || !c.Over() {
				t.Errorf("%s: %v, %d bytes", name, err, c.Unsent())
			}
		}
	}
}

// A NUL ends a text of PostgreSQL: a value with one goes nowhere.
func TestValuesWithNUL(t *testing.T) {
	c := postgres.New(postgres.Config{}).Begin()
	if err := c.Operate(open, postgres.Order{Values: [][]byte{[]byte("a\x00b")}}); kindOf(err) != http1.KindValue || c.Unsent() > 0 || c.Open() > 0 {
		t.Error(err)
	}
	if err := c.Send(codec.MessageText, []byte("a\x00b"), nil); kindOf(err) != http1.KindValue || c.Unsent() > 0 || c.Open() > 0 {
		t.Error(err)
	}
	sent := uint64(0)
	if err := c.Send(codec.MessageText, []byte("select 1"), &sent); err != nil || string(c.Output()) != "Q\x00\x00\x00\x0dselect 1\x00" {
		t.Errorf("%v %q", err, c.Output())
	}
	on := &kept{of: c}
	c.Sent(c.Unsent())
	if err := c.Feed(wires(t, "T a:23;D 1;C SELECT 1;Z I"), on); err != nil || sent != 1 || string(on.outcomes[0].Body) != `[{"a":1}]` {
		t.Error(err, sent, on.outcomes)
	}
}

// POSTGRES-6: an operation that is written in part does not count.
func TestWhatIsNotSentWhole(t *testing.T) {
	c := postgres.New(postgres.Config{}).Begin()
	first, second := uint64(0), uint64(0)
	_ = c.Operate(read, postgres.Order{Sent: &first})
	_ = c.Operate(open, postgres.Order{Sent: &second, Values: [][]byte{[]byte("1")}})
	c.Sent(c.Unsent() - 1)
	if c.Release(); first != 1 || second != 0 || c.Unsent() > 0 {
		t.Error(first, second)
	}
}

// Notices over time are no flood.
func TestNoticesOverTime(t *testing.T) {
	c := postgres.New(postgres.Config{}).Begin()
	for range 5 {
		if err := c.Feed(bytes.Repeat(wire(t, "S a b"), 1000), &kept{of: c}); err != nil {
			t.Fatal(err)
		}
		c.Rest()
	}
}

// POSTGRES-7: the password of a startup is in no description.
func TestPasswordsAreHidden(t *testing.T) {
	p := postgres.New(postgres.Config{User: "app", Password: "geheim", TLS: true})
	for _, server := range []string{"auth 3", "auth 5 salt", `auth 10 SCRAM-SHA-256\x00\x00`} {
		g := p.Greet([18]byte{})
		out, _, _, err := g.Hear(g.Begin(nil), []byte("S"))
		if err != nil || !g.Secures() {
			t.Fatal(err)
		}
		out, _, _, err = g.Hear(g.Secured(out, nil), wire(t, server))
		if text := string(postgres.Describe(nil, out, true)); err != nil || strings.Contains(text, "geheim") || !strings.Contains(text, "PasswordMessage ***") {
			t.Errorf("%s: %s %v", server, text, err)
		}
	}
	for _, one := range [][2]string{
		{"E ERROR 22012 division", `ErrorResponse ERROR 22012 "division"`}, {"C SELECT 1", `CommandComplete "SELECT 1"`}, {"D 1", "DataRow"}, {"1;2;Z I", "ParseComplete; BindComplete; ReadyForQuery"},
	} {
		if got := string(postgres.Describe(nil, wires(t, one[0]), false)); got != one[1] {
			t.Errorf("%q, want %q", got, one[1])
		}
	}
}

var (
	read  = operation(postgres.ModePrepared, "select abalance from pgbench_accounts where aid = $1 | 4242", false)
	open  = postgres.Compile(postgres.ModePrepared, []postgres.Statement{{Text: "select abalance from pgbench_accounts where aid = $1", Args: []postgres.Argument{{{Value: 0}}}}}, false)
	plain = operation(postgres.ModeSimple, "select 1", false)
	gives = postgres.Copy("copy t to stdout", nil)
	takes = postgres.Copy("copy t from stdin", []byte("1"))
	batch = operation(postgres.ModePrepared, "insert | 1 ; update | 2 ; delete | 3", true)
)

// deaf reads nothing.
type deaf struct{ n int }

func (d *deaf) Message(codec.MessageKind, []byte) { d.n++ }
func (d *deaf) Pong(uint64)                       { d.n++ }
func (d *deaf) Leaves(uint16, string)             { d.n++ }

// steady is a steady state: an operation out, its answer in.
type steady struct {
	name  string
	of    *postgres.Operation
	in    string
	keeps bool
	cut   int
}

var steadies = []steady{
	{name: "a row", of: read, in: "2;D 100;C SELECT 1;Z I"},
	{name: "a row with a value", of: open, in: "2;D 100;C SELECT 1;Z I"},
	{name: "a row that is read", of: open, in: "2;T abalance:23;D 100;C SELECT 1;Z I", keeps: true},
	{name: "a row in pieces", of: read, in: "2;D 100;C SELECT 1;Z I", cut: 1},
	{name: "a row in pieces that is read", of: read, in: "2;T abalance:23;D 100;C SELECT 1;Z I", cut: 1, keeps: true},
	{name: "a simple one", of: plain, in: "T a:23;D 1;C SELECT 1;Z I"},
	{name: "a transaction", of: batch, in: "2;C INSERT 0 1;2;C UPDATE 1;2;C DELETE 1;Z I"},
	{name: "100 rows", of: read, in: "2;" + strings.Repeat("D 1 abc 3;", 100) + "C SELECT 100;Z I"},
	{name: "100 rows that are read", of: read, in: "2;T a:23 b:25 c:23;" + strings.Repeat("D 1 abc 3;", 100) + "C SELECT 100;Z I", keeps: true},
}

// warm prepares the statements of a connection.
func (s *steady) warm(t testing.TB, c *postgres.Conn) {
	if s.of == plain {
		return
	}
	_ = c.Operate(s.of, postgres.Order{Values: [][]byte{nil}})
	c.Sent(c.Unsent())
	if err := c.Feed(wires(t, strings.Repeat("1;2;C X;", s.of.Statements())+"Z I"), &deaf{}); err != nil {
		t.Fatal(err)
	}
}

func (s *steady) run(c *postgres.Conn, b []byte, on codec.Listener, with postgres.Order) error {
	if err := c.Operate(s.of, with); err != nil {
		return err
	}
	c.Sent(len(c.Output()))
	for len(b) > 0 {
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

// POSTGRES-5.
func TestOperationsAllocateNothing(t *testing.T) {
	for _, s := range steadies {
		c, on, sent := postgres.New(postgres.Config{}).Begin(), &deaf{}, uint64(0)
		s.warm(t, c)
		b := wires(t, s.in)
		with := postgres.Order{Keeps: s.keeps, Sent: &sent, Values: [][]byte{[]byte("4242")}}
		n := testing.AllocsPerRun(50, func() {
			if err := s.run(c, b, on, with); err != nil {
				t.Fatal(s.name, err)
			}
		})
		if n > 0 || sent != uint64(on.n) {
			t.Errorf("%s: %v allocations, %d sent, %d answered", s.name, n, sent, on.n)
		}
	}
}

// POSTGRES-5: connections that are idle hold no buffer: one pool serves a thousand.
func TestIdleConnectionsShareMemory(t *testing.T) {
	p := postgres.New(postgres.Config{})
	s := steadies[4]
	all, on, b := make([]*postgres.Conn, 1000), &deaf{}, wires(t, s.in)
	for i := range all {
		all[i] = p.Begin()
		s.warm(t, all[i])
	}
	play := func() {
		for _, c := range all {
			if err := s.run(c, b, on, postgres.Order{Keeps: true}); err != nil {
				t.Fatal(err)
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
			c, on := postgres.New(postgres.Config{}).Begin(), &deaf{}
			s.warm(b, c)
			in := wires(b, s.in)
			with := postgres.Order{Keeps: s.keeps, Values: [][]byte{[]byte("4242")}}
			for b.Loop() {
				if err := s.run(c, in, on, with); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(len(in)))
		})
	}
}

// FuzzFeed feeds any bytes, at once and in pieces, read and unread: no panic, the same outcome, no
// answer beyond the limit, and each is JSON.
func FuzzFeed(f *testing.F) {
	for _, seed := range []string{
		"1;2;T a:23 b:25;D 1 x;D null ;C SELECT 2;Z I", "1;2;n;C UPDATE 1;Z I;E FATAL 57P01 bye", "N NOTICE 00000 x;S a b;A;1;E ERROR 23505 x;Z I;T a:3802;D {};C SELECT 1;I;Z T",
		`raw "D\x00\x00\x00\x06\xff\xff"`, `raw "1\x00\x00"`, "1;G", "Z I",
	} {
		f.Add(wires(f, seed), uint8(1))
	}
	f.Add(wires(f, `H;d 1\n;d ;c;C COPY 2;Z I;1;2`), uint8(2))
	f.Add(wires(f, `G;C COPY 2;Z I;1;2`), uint8(3))
	f.Fuzz(func(t *testing.T, b []byte, cut uint8) {
		const limit = 1 << 10
		play := func(n int, keeps bool) string {
			c := postgres.New(postgres.Config{AnswerMax: limit}).Begin()
			on := &kept{of: c}
			switch cut % 4 {
			case 2:
				_ = c.Operate(gives, postgres.Order{Keeps: keeps, Tag: 9})
			case 3:
				_ = c.Operate(takes, postgres.Order{Keeps: keeps})
			}
			_ = c.Operate(read, postgres.Order{Keeps: keeps})
			_ = c.Operate(plain, postgres.Order{Keeps: keeps})
			_ = c.Operate(batch, postgres.Order{Keeps: keeps})
			c.Ping(7)
			c.Sent(c.Unsent())
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
				if len(o.Body) > 2*limit || keeps && o.Tag != 9 && (!json.Valid(o.Body) || !utf8.Valid(o.Body)) || o.Err != nil && !strings.HasPrefix(string(kindOf(o.Err)), "server ") {
					t.Fatalf("%q %v", o.Body, o.Err)
				}
				out += fmt.Sprintf("%s %d %d %v\n", o.Body, o.Rows, o.Affected, o.Err)
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

// FuzzGreeting feeds any bytes to a greeting: no panic, the same outcome however they are cut, and no
// connection without the server's proof.
func FuzzGreeting(f *testing.F) {
	f.Add(wires(f, `auth 10 SCRAM-SHA-256\x00\x00;auth 11 r=AAAAAAAAAAAAAAAAAAAAAAAAx,s=c2FsdA==,i=1;auth 12 v=AAAA;auth 0;Z I`), uint8(1), false)
	f.Add(wires(f, "auth 5 salt;auth 0;S server_version 15;K;Z I"), uint8(3), false)
	f.Add(wires(f, `raw "S";auth 10 SCRAM-SHA-256-PLUS\x00\x00;auth 11 r=AAAAAAAAAAAAAAAAAAAAAAAAx,s=c2FsdA==,i=1`), uint8(7), true)
	f.Add(wires(f, `raw "S";auth 3;auth 0;Z I`), uint8(1), true)
	f.Fuzz(func(t *testing.T, b []byte, cut uint8, secure bool) {
		play := func(n int) string {
			g := postgres.New(postgres.Config{User: "app", Password: "geheim", TLS: secure}).Greet([18]byte{})
			r, out := codec.NewRounds(g)
			for rest := b; len(rest) > 0; {
				piece := bytes.Clone(rest[:min(n, len(rest))])
				if secure && len(rest) == len(b) {
					piece = piece[:1] // the answer comes in clear, and all else in TLS
				}
				rest = rest[len(piece):]
				var d codec.Dialogue
				var err error
				if out, _, d, err = r.Feed(out, piece); r.Secures() {
					out = r.Secured(out, []byte("point"))
				}
				for i := 0; err == nil && r.Works() && i < 60; i++ {
					out, _, d, err = r.Feed(out, nil)
				}
				clear(piece)
				if bytes.Contains(out, []byte("geheim")) && !secure || err != nil && strings.Contains(err.Error(), "geheim") {
					t.Fatal("the password goes out")
				}
				if err != nil || d != nil {
					return fmt.Sprintf("%q %v %v", out, err, d != nil)
				}
			}
			return fmt.Sprintf("%q %v", out, r.End(io.EOF))
		}
		if whole, pieces := play(len(b)), play(int(max(cut, 1))); whole != pieces {
			t.Fatalf("whole: %s\nin pieces of %d: %s", whole, cut, pieces)
		}
	})
}

// A goodbye rolls back what is open, unless a statement is under way: then the server does by itself.
func TestTheGoodbyeRollsBack(t *testing.T) {
	for _, tt := range []struct{ status, says string }{{"I", "X"}, {"T", "Q ROLLBACK X"}, {"E", "Q ROLLBACK X"}} {
		for _, asks := range []bool{false, true} {
			c := postgres.New(postgres.Config{}).Begin()
			ask := func() {
				if err := c.Operate(postgres.Compile(postgres.ModeSimple, []postgres.Statement{{Text: "begin"}}, false), postgres.Order{}); err != nil {
					t.Fatal(err)
				}
				c.Sent(len(c.Output()))
			}
			ask()
			if err := c.Feed([]byte("C\x00\x00\x00\x0aBEGIN\x00Z\x00\x00\x00\x05"+tt.status), &hearer{of: c}); err != nil || c.InTransaction() != (tt.status != "I") {
				t.Fatal(err)
			}
			want := tt.says
			if asks {
				ask()
				want = "X"
			}
			c.Leave(0, "")
			got := strings.Map(func(r rune) rune {
				if r < ' ' || r > '~' {
					return -1
				}
				return r
			}, string(c.Output()))
			if got != strings.ReplaceAll(want, " ", "") {
				t.Errorf("%s, asks %v: %q, want %q", tt.status, asks, got, want)
			}
		}
	}
}

// TLS begins at once.
func TestDirectTLS(t *testing.T) {
	g := postgres.New(postgres.Config{User: "app", TLS: true, Direct: true}).Greet([18]byte{})
	if out := g.Begin(nil); len(out) > 0 || !g.Secures() {
		t.Errorf("it says %q, and TLS begins: %t", out, g.Secures())
	}
	if out := g.Secured(nil, nil); !bytes.Contains(out, []byte("user\x00app\x00")) || g.Secures() {
		t.Errorf("in TLS it says %q", out)
	}
}

// A server must choose the protocol.
func TestChosen(t *testing.T) {
	if err := postgres.Chosen("postgresql"); err != nil {
		t.Error(err)
	}
	for _, other := range []string{"", "h2", "PostgreSQL"} {
		if err := postgres.Chosen(other); http1.KindOf(err) != http1.KindTLS {
			t.Errorf("%q is taken: %v", other, err)
		}
	}
}
