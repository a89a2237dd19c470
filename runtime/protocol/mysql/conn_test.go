package mysql_test

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
	"hyperscale/runtime/protocol/mysql"
)

// kept is what a listener keeps of operations.
type kept struct {
	of       *mysql.Conn
	outcomes []mysql.Outcome
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
	lasting        int // rows that stay changed
	kind           http1.Kind
	body           string
}

// expects says what becomes of statements that the twin runs.
func expects(mode mysql.Mode, all []mysql.Statement, whole, keeps bool, values [][]byte) (w wanted) {
	last := []string{}
	for _, s := range all {
		verb, rest, _ := strings.Cut(s.Text, " ")
		n := 0
		_, _ = fmt.Sscan(rest, &n)
		kind := http1.KindNone
		switch verb {
		case "select":
			value := "null"
			if len(s.Args) > 0 && s.Args[0].Kind != mysql.KindNull && mode != mysql.ModeSimple {
				text := ""
				for _, p := range s.Args[0].Parts {
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
			w.lasting += n
		case "fail":
			kind = "server 1062"
		case "broken":
			kind = "server 1064"
		}
		if kind != http1.KindNone {
			if w.kind == http1.KindNone {
				w.kind = kind
			}
			if whole {
				w.lasting = 0
				break
			}
		}
	}
	if keeps {
		w.body = "[" + strings.Join(last, ",") + "]"
	}
	return w
}

// drain lets the server answer all that a connection has to say, in pieces, and reports how often the
// connection was written out while it owed nothing.
func drain(rt *rapid.T, c *mysql.Conn, server *twin, on *kept) (sent int) {
	for c.Unsent() > 0 {
		var said []byte
		for c.Unsent() > 0 {
			n := rapid.IntRange(1, c.Unsent()).Draw(rt, "n")
			if rapid.Bool().Draw(rt, "all") {
				n = c.Unsent()
			}
			said = append(said, c.Output()[:n]...)
			c.Sent(n)
		}
		before := len(on.outcomes)
		if !c.Owes() {
			sent++
		}
		answers := server.serve(said)
		if len(answers) == 0 {
			sent-- // it says what has no answer
		}
		for len(answers) > 0 {
			n := rapid.IntRange(1, len(answers)).Draw(rt, "cut")
			piece := bytes.Clone(answers[:n])
			if err := c.Feed(piece, on); err != nil {
				rt.Fatal(err)
			}
			clear(piece)
			answers = answers[n:]
		}
		if len(on.outcomes) > before && c.Owes() {
			rt.Fatal("what is answered owes something")
		}
	}
	return sent
}

// MYSQL-1, MYSQL-3, MYSQL-4, MYSQL-6, MYSQL-8, DIALOGUE-1: random operations of random statements, their
// bytes written and answered in any pieces, have the outcomes that they should, and the server has what
// they changed.
func TestOperationsAreAnswered(t *testing.T) {
	words := rapid.StringMatching("[a-z]{0,9}")
	rapid.Check(t, func(rt *rapid.T) {
		full := rapid.Bool().Draw(rt, "full")
		c := mysql.New(mysql.Config{}).Begin(!full)
		server := &twin{t: t, full: full, prepared: map[uint32]string{}}
		on := &kept{of: c}
		pings, lasting := 0, 0
		for i := range rapid.IntRange(1, 8).Draw(rt, "operations") {
			if rapid.IntRange(0, 9).Draw(rt, "ping") == 0 {
				c.Ping(uint64(pings))
				pings++
				drain(rt, c, server, on)
			}
			mode := rapid.SampledFrom([]mysql.Mode{mysql.ModePrepared, mysql.ModePrepared, mysql.ModeUnnamed, mysql.ModeSimple}).Draw(rt, "mode")
			whole, keeps := rapid.Bool().Draw(rt, "whole"), rapid.Bool().Draw(rt, "keeps")
			values := [][]byte{[]byte(words.Draw(rt, "value")), []byte(words.Draw(rt, "value"))}
			var all []mysql.Statement
			for range rapid.IntRange(1, 4).Draw(rt, "statements") {
				s := mysql.Statement{Text: rapid.SampledFrom([]string{"select 0", "select 1", "select 3", "update 0", "update 2", "fail", "broken", "select 2 x"}).Draw(rt, "text")}
				for range rapid.IntRange(0, 2).Draw(rt, "args") {
					if mode == mysql.ModeSimple {
						break
					}
					s.Text += " ?"
					a := mysql.Argument{Kind: rapid.SampledFrom([]mysql.Kind{mysql.KindText, mysql.KindBytes, mysql.KindNull}).Draw(rt, "kind")}
					for range rapid.IntRange(0, 2).Draw(rt, "parts") {
						a.Parts = append(a.Parts, mysql.Part{Text: words.Draw(rt, "part"), Value: rapid.IntRange(-1, 1).Draw(rt, "value")})
					}
					s.Args = append(s.Args, a)
				}
				all = append(all, s)
			}
			if err := c.Operate(mysql.Compile(mode, all, whole), mysql.Order{Tag: uint64(i), Keeps: keeps, Values: values}); err != nil {
				rt.Fatal(err)
			}
			if err := c.Operate(read, mysql.Order{}); kindOf(err) != http1.KindClosed {
				rt.Fatal("a second operation is taken", err)
			}
			w := expects(mode, all, whole, keeps, values)
			for _, v := range values { // others change them while the operation is under way
				if c.Owes() {
					copy(v, "#########")
				}
			}
			if sent := drain(rt, c, server, on); sent > 1 || sent == 0 && w.kind == http1.KindNone {
				rt.Fatalf("it is sent %d times", sent)
			}
			lasting += w.lasting
			w.lasting = 0
			if len(on.outcomes) != i+1 || len(on.pongs) != pings || c.Over() {
				rt.Fatalf("operation %d: %d are answered, %d pongs of %d", i, len(on.outcomes), len(on.pongs), pings)
			}
			o := on.outcomes[i]
			got := wanted{o.Rows, o.Affected, 0, kindOf(o.Err), string(o.Body)}
			if o.Tag != uint64(i) || got != w || server.lasting != lasting || server.inside {
				rt.Fatalf("operation %d: %+v (%v), want %+v; %d rows stay changed, want %d", i, got, o.Err, w, server.lasting, lasting)
			}
		}
	})
}

// play runs an operation against a twin.
func play(t testing.TB, c *mysql.Conn, server *twin, on codec.Listener, o *mysql.Operation) {
	t.Helper()
	if err := c.Operate(o, mysql.Order{Values: [][]byte{[]byte("v")}}); err != nil {
		t.Fatal(err)
	}
	for c.Unsent() > 0 {
		b := bytes.Clone(c.Output())
		c.Sent(len(b))
		if err := c.Feed(server.serve(b), on); err != nil {
			t.Fatal(err)
		}
	}
}

// MYSQL-2: of many statements the connection keeps some, closes the oldest, and prepares it again. One
// operation may have more than it keeps.
func TestManyStatements(t *testing.T) {
	c := mysql.New(mysql.Config{}).Begin(true)
	server := &twin{t: t, prepared: map[uint32]string{}}
	on := &kept{of: c}
	var many []mysql.Statement
	for i := range 400 {
		many = append(many, mysql.Statement{Text: fmt.Sprint("select 1 ", i%300)})
	}
	for range 2 {
		for i := range 600 {
			play(t, c, server, on, operation(mysql.ModePrepared, fmt.Sprint("select 1 ", i), false))
			play(t, c, server, on, operation(mysql.ModePrepared, fmt.Sprint("update 1 ", i, "; fail; update 2 ", i), true))
		}
		play(t, c, server, on, mysql.Compile(mysql.ModePrepared, many, false))
		if got := on.outcomes[len(on.outcomes)-1]; got.Rows != 400 || got.Err != nil {
			t.Fatal(got)
		}
	}
	if n := len(server.prepared); n != 256 {
		t.Errorf("the server keeps %d statements", n)
	}
	before := server.number
	play(t, c, server, on, operation(mysql.ModePrepared, "select 1 299", false))
	if server.number != before {
		t.Error("it prepares again what it has")
	}
	play(t, c, server, on, operation(mysql.ModeUnnamed, "select 1 ?; update 1 | $0", true))
	if n := len(server.prepared); n != 256 {
		t.Errorf("the server keeps %d statements", n)
	}
}

// MYSQL-8: what a server says before a command has gone out answers nothing, though its numbers fit. Its errors may come early.
func TestEarlyAnswers(t *testing.T) {
	for name, tt := range map[string]struct {
		mode  mysql.Mode
		whole bool
		said  []string
	}{
		"behind a preparation": {mysql.ModePrepared, false, []string{"prepared 7 0 0", "ok"}},
		"in a transaction":     {mysql.ModeSimple, true, []string{"ok", "ok", "ok"}},
	} {
		c := mysql.New(mysql.Config{}).Begin(true)
		on := &kept{of: c}
		if err := c.Operate(operation(tt.mode, "select 1", tt.whole), mysql.Order{}); err != nil {
			t.Fatal(name, err)
		}
		c.Sent(c.Unsent())
		var all []byte
		for _, one := range tt.said {
			all = append(all, answer(t, one, 1, 1)...)
		}
		if err := c.Feed(all, on); kindOf(err) != http1.KindProtocol || len(on.outcomes) > 0 {
			t.Errorf("%s: %v, %d operations have an end", name, err, len(on.outcomes))
		}
	}
}

// A commit that the server rejects leaves its transaction in doubt: nothing uses the connection again, and the
// server's error stands.
func TestRejectedCommits(t *testing.T) {
	for _, end := range []string{"err 3101 HY000 rolled back by the group", "err 1213 40001 Deadlock found"} {
		c := mysql.New(mysql.Config{}).Begin(true)
		on := &kept{of: c}
		if err := c.Operate(operation(mysql.ModeSimple, "a", true), mysql.Order{}); err != nil {
			t.Fatal(err)
		}
		within := []byte("\x07\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00") // an OK in a transaction
		for _, said := range [][]byte{within, within, answer(t, end, 1, 1)} {
			c.Sent(c.Unsent())
			if err := c.Feed(said, on); err != nil {
				t.Fatal(err)
			}
		}
		if len(on.outcomes) != 1 || on.outcomes[0].Err == nil || c.InTransaction() || c.Over() != strings.Contains(end, "3101") {
			t.Errorf("%s: %+v, in a transaction %v, over %v", end, on.outcomes, c.InTransaction(), c.Over())
		}
	}
}

// A payload of 16 MiB and more has several packets, both ways.
func TestLongPackets(t *testing.T) {
	const packet = 1<<24 - 1
	for _, size := range []int{packet - 10, packet - 4} {
		text := "select '" + strings.Repeat("x", size) + "'"
		c := mysql.New(mysql.Config{AnswerMax: 1 << 30}).Begin(true)
		on := &kept{of: c}
		_ = c.Operate(operation(mysql.ModeSimple, text, false), mysql.Order{Keeps: true})
		b := c.Output()
		body, n := []byte(nil), packet
		for number := byte(0); n == packet; number++ {
			if n = int(b[0]) | int(b[1])<<8 | int(b[2])<<16; b[3] != number {
				t.Fatalf("packet %d has the number %d", number, b[3])
			}
			body, b = append(body, b[4:4+n]...), b[4+n:]
		}
		if string(body) != "\x03"+text || len(b) > 0 {
			t.Errorf("%d bytes: it says %d, and %d behind", size, len(body), len(b))
		}
		c.Sent(c.Unsent())
		for _, keeps := range []bool{true, false} {
			if !keeps {
				_ = c.Operate(operation(mysql.ModeSimple, text, false), mysql.Order{})
				c.Sent(c.Unsent())
			}
			err := c.Feed(answer(t, "cols 1;col a 253;text "+strings.Repeat("y", size)+";end", 2, 1), on)
			if err != nil {
				t.Fatal(size, err)
			}
			if got := on.outcomes[len(on.outcomes)-1]; err != nil || got.Rows != 1 || keeps && len(got.Body) != size+len(`[{"a":""}]`) {
				t.Errorf("%d bytes: %v, %d rows, %d bytes", size, err, got.Rows, len(got.Body))
			}
		}
	}
}

// MYSQL-2: a length that a server announces reserves nothing.
func TestMemoryIsBounded(t *testing.T) {
	for _, head := range []string{"\xff\xff\xff\x01\x00", "\xff\xff\xff\x01\xff", "\xfe\xff\xff\x01\x03"} {
		for _, most := range []int64{1 << 25, math.MaxInt64} {
			c := mysql.New(mysql.Config{AnswerMax: most}).Begin(true)
			if err := c.Operate(plain, mysql.Order{Keeps: true}); err != nil {
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
	c := mysql.New(mysql.Config{AnswerMax: 300}).Begin(true)
	_ = c.Operate(plain, mysql.Order{Keeps: true})
	c.Sent(c.Unsent())
	if err := c.Feed(answer(t, "cols 1;col a 253;text "+strings.Repeat("\x01", 60), 1, 1), &kept{of: c}); kindOf(err) != http1.KindTooLarge {
		t.Errorf("60 bytes that JSON escapes: %v", err)
	}
}

// DIALOGUE-3: after a breach, our leave or the release nothing can be sent; our leave says goodbye.
func TestWhatCannotBeSent(t *testing.T) {
	ways := map[string]func(*mysql.Conn){
		"our leave":     func(c *mysql.Conn) { c.Leave(1000, "") },
		"a breach":      func(c *mysql.Conn) { _ = c.Feed(answer(t, "ok", 1, 1), &kept{of: c}) },
		"a fatal error": func(c *mysql.Conn) { _ = c.Feed(answer(t, "err 1927 70100 bye", 0, 1), &kept{of: c}) },
		"the release":   func(c *mysql.Conn) { c.Release() },
	}
	//lint:orderfree each is a test of its own
	for name, way := range ways {
		c := mysql.New(mysql.Config{}).Begin(true)
		if c.Over() {
			t.Errorf("%s: it is over before", name)
		}
		way(c)
		bye := string(c.Output())
		if want := map[bool]string{true: "\x01\x00\x00\x00\x01"}[name == "our leave"]; bye != want {
			t.Errorf("%s: it says %q", name, bye)
		}
		c.Ping(1)
		c.Leave(1000, "")
		if err := c.Operate(read, mysql.Order{}); kindOf(err) != http1.KindClosed || c.Unsent() > len(bye) || !c.Over() {
			t.Errorf("%s: %v, %d bytes", name, err, c.Unsent())
		}
		if err := c.Send(codec.MessageText, nil, nil); err == nil {
			t.Errorf("%s: a text is sent", name)
		}
	}
}

// MYSQL-7: a password is in no description.
func TestPasswordsAreHidden(t *testing.T) {
	p := mysql.New(mysql.Config{User: "app", Password: "geheim", TLS: true})
	for _, server := range []string{"hello mysql_clear_password;switch mysql_clear_password", "hello caching_sha2_password;auth 04", "hello;switch mysql_clear_password"} {
		r, out := codec.NewRounds(p.Greet())
		first, then, _ := strings.Cut(server, ";")
		out, _, _, err := r.Feed(out, answer(t, first, 0, 2))
		if !r.Secures() {
			t.Fatalf("%s: it begins no TLS: %v", server, err)
		}
		out = r.Secured(out, nil)
		out, _, _, err = r.Feed(out, answer(t, then, 3, 2))
		if text := string(mysql.Describe(nil, out, true, true)); err != nil || strings.Contains(text, "geheim") || !strings.Contains(text, "***") || !bytes.Contains(out, []byte("geheim\x00")) {
			t.Errorf("%s: %s %v", server, text, err)
		}
	}
	for _, one := range [][2]string{
		{"err 1062 23000 twice", `ERR 1062 23000 "twice"`}, {"ok 3", "OK 3 affected"}, {"eof", "EOF"}, {"packet \"\"", "empty"}, {"cols 1", "packet of 1 bytes"},
	} {
		if got := string(mysql.Describe(nil, answer(t, one[0], 1, 1), false, false)); got != one[1] {
			t.Errorf("%q, want %q", got, one[1])
		}
	}
	if got := string(mysql.Describe(nil, answer(t, "hello", 0, 2), false, true)); got != `Handshake "10.11.6-twin"` {
		t.Error(got)
	}
}

var (
	read  = operation(mysql.ModePrepared, "select c from sbtest1 where id=? | 4242", false)
	open  = mysql.Compile(mysql.ModePrepared, []mysql.Statement{{Text: "select c from sbtest1 where id=?", Args: []mysql.Argument{{Parts: []mysql.Part{{Value: 0}}}}}}, false)
	plain = operation(mysql.ModeSimple, "select 1", false)
	batch = operation(mysql.ModePrepared, "insert | 1 ; update | 2 ; delete | 3", true)
)

// deaf reads nothing.
type deaf struct{ n int }

func (d *deaf) Message(codec.MessageKind, []byte) { d.n++ }
func (d *deaf) Pong(uint64)                       { d.n++ }
func (d *deaf) Leaves(uint16, string)             { d.n++ }

// steady is a steady state: an operation out, its answer in.
type steady struct {
	name  string
	of    *mysql.Operation
	in    string // a line for each command
	keeps bool
	cut   int
}

const typedRow = ";typed 0000 03313030"

var steadies = []steady{
	{name: "a row", of: read, in: "cols 1;col c 254" + typedRow + ";end"},
	{name: "a row with a value", of: open, in: "cols 1;col c 254" + typedRow + ";end"},
	{name: "a row that is read", of: open, in: "cols 1;col c 254" + typedRow + ";end", keeps: true},
	{name: "a row in pieces", of: read, in: "cols 1;col c 254" + typedRow + ";end", cut: 1},
	{name: "a row in pieces that is read", of: read, in: "cols 1;col c 254" + typedRow + ";end", cut: 1, keeps: true},
	{name: "a simple one", of: plain, in: "cols 1;col a 3;text 1;end"},
	{name: "a transaction", of: batch, in: "ok\nok 1\nok 1\nok 1\nok"},
	{name: "100 rows", of: read, in: "cols 1;col c 254" + strings.Repeat(typedRow, 100) + ";end"},
	{name: "100 rows that are read", of: read, in: "cols 1;col c 254" + strings.Repeat(typedRow, 100) + ";end", keeps: true},
}

// answers are those of the commands of a steady state.
func (s *steady) answers(t testing.TB) (all [][]byte) {
	for line := range strings.Lines(s.in) {
		all = append(all, answer(t, line, 1, 1))
	}
	return all
}

// warm prepares the statements of a connection.
func (s *steady) warm(t testing.TB, c *mysql.Conn) {
	if s.of == plain {
		return
	}
	lines := []string{"prepared 5 0 1;col ? 253", "ok"}
	if s.of == batch {
		lines = []string{"ok", "prepared 5 0 1;col ? 253", "ok", "prepared 6 0 1;col ? 253", "ok", "prepared 7 0 1;col ? 253", "ok", "ok"}
	}
	on := &deaf{}
	if err := c.Operate(s.of, mysql.Order{Values: [][]byte{nil}}); err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		c.Sent(c.Unsent())
		if err := c.Feed(answer(t, line, 1, 1), on); err != nil {
			t.Fatal(err)
		}
	}
	if on.n != 1 {
		t.Fatal("it is not warm")
	}
}

func (s *steady) run(c *mysql.Conn, answers [][]byte, on codec.Listener, with mysql.Order) error {
	if err := c.Operate(s.of, with); err != nil {
		return err
	}
	for _, b := range answers {
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
	}
	return nil
}

// MYSQL-5.
func TestOperationsAllocateNothing(t *testing.T) {
	for _, s := range steadies {
		c, on := mysql.New(mysql.Config{}).Begin(true), &deaf{}
		s.warm(t, c)
		answers, runs := s.answers(t), 0
		with := mysql.Order{Keeps: s.keeps, Values: [][]byte{[]byte("4242")}}
		n := testing.AllocsPerRun(50, func() {
			runs++
			if err := s.run(c, answers, on, with); err != nil {
				t.Fatal(s.name, err)
			}
		})
		if n > 0 || on.n != runs {
			t.Errorf("%s: %v allocations, %d answered of %d", s.name, n, on.n, runs)
		}
	}
}

// MYSQL-5: connections that are idle hold no buffer: one pool serves a thousand.
func TestIdleConnectionsShareMemory(t *testing.T) {
	p := mysql.New(mysql.Config{})
	s := steadies[4]
	all, on, answers := make([]*mysql.Conn, 1000), &deaf{}, s.answers(t)
	for i := range all {
		all[i] = p.Begin(true)
		s.warm(t, all[i])
	}
	round := func() {
		for _, c := range all {
			if err := s.run(c, answers, on, mysql.Order{Keeps: true}); err != nil {
				t.Fatal(err)
			}
		}
	}
	round()
	if n := testing.AllocsPerRun(8, round); n > 0 {
		t.Errorf("%v allocations for 1,000 connections", n)
	}
}

func BenchmarkOperation(b *testing.B) {
	for _, s := range steadies {
		b.Run(s.name, func(b *testing.B) {
			b.ReportAllocs()
			c, on := mysql.New(mysql.Config{}).Begin(true), &deaf{}
			s.warm(b, c)
			answers := s.answers(b)
			with := mysql.Order{Keeps: s.keeps, Values: [][]byte{[]byte("4242")}}
			for b.Loop() {
				if err := s.run(c, answers, on, with); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// FuzzFeed feeds any bytes, at once and in pieces, read and unread: no panic, the same outcome, no
// answer beyond the limit, and each is JSON.
func FuzzFeed(f *testing.F) {
	for _, seed := range []string{
		"prepared 5 1 1;col ? 253;col a 3;#1;cols 2;col a 12;col b 11;typed 0000 04e8070c1f 00;end", "prepared 5 0 1;col ? 253;#1;cols 2;col a 3;col b 253;typed 0004 7800000001;typed 0000 01000000 0178;err 1317 70100 x",
		"prepared 5 0 1;col ? 253;#1;ok 2 more;cols 1;col a 245;typed 0000 027b7d;end;#0;err 1927 70100 bye", "err 1064 42000 x", "prepared 5 0 1;col ? 253;#1;packet \"\\xfb/etc/passwd\"", `raw "\xff\xff\xff\x01\x00"`,
	} {
		for way := range uint8(8) {
			f.Add(answer(f, seed, 1, 1), uint8(1), way)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, cut, way uint8) {
		const limit = 1 << 10
		play := func(n int, keeps bool) string {
			c := mysql.New(mysql.Config{AnswerMax: limit}).Begin(way&1 == 0)
			on := &kept{of: c}
			o := []*mysql.Operation{read, plain, batch, open}[way>>1&3]
			again := func() {
				c.Sent(c.Unsent())
				_ = c.Operate(o, mysql.Order{Keeps: keeps, Values: [][]byte{[]byte("v")}})
			}
			again()
			c.Sent(c.Unsent()) // what is queued while the server talks has not gone out: an answer to it is early
			var err error
			for rest := b; len(rest) > 0 && err == nil; {
				piece := bytes.Clone(rest[:min(n, len(rest))])
				rest = rest[len(piece):]
				err = c.Feed(piece, on)
				clear(piece)
			}
			if err == nil {
				again()
				c.Ping(7)
				err = c.End(io.EOF)
			}
			out := ""
			for _, o := range on.outcomes {
				if len(o.Body) > 2*limit || keeps && (!json.Valid(o.Body) || !utf8.Valid(o.Body)) || o.Err != nil && !strings.HasPrefix(string(kindOf(o.Err)), "server ") && kindOf(o.Err) != http1.KindValue {
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
// password in clear.
func FuzzGreeting(f *testing.F) {
	f.Add(answer(f, "hello mysql_native_password;switch caching_sha2_password;auth 03", 0, 2), uint8(1))
	f.Add(answer(f, "hello caching_sha2_password;auth 04;ok", 0, 2), uint8(3))
	f.Add(answer(f, "hello;err 1045 28000 denied geheim", 0, 2), uint8(3))
	f.Fuzz(func(t *testing.T, b []byte, cut uint8) {
		play := func(n int) string {
			r, out := codec.NewRounds(mysql.New(mysql.Config{User: "app", Password: "geheim"}).Greet())
			for rest := b; len(rest) > 0; {
				piece := bytes.Clone(rest[:min(n, len(rest))])
				rest = rest[len(piece):]
				var d codec.Dialogue
				var err error
				out, _, d, err = r.Feed(out, piece)
				clear(piece)
				if bytes.Contains(out, []byte("geheim")) || err != nil && strings.Contains(err.Error(), "geheim") {
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

// A goodbye rolls back what is open. A deadlock has ended it, whatever the status was.
func TestTheGoodbyeRollsBack(t *testing.T) {
	const begun, over = "\x07\x00\x00\x01\x00\x00\x00\x03\x00\x00\x00", "\x07\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00"
	for _, tt := range []struct {
		says, answer string
		undoes       bool
	}{
		{"over", over, false}, {"begun", begun, true},
		{"duplicate", "\x0b\x00\x00\x01\xff\x26\x04#23000no", true}, {"deadlock", "\x0b\x00\x00\x01\xff\xbd\x04#40001no", false},
	} {
		c := mysql.New(mysql.Config{}).Begin(false)
		for _, answer := range []string{begun, tt.answer} {
			if err := c.Operate(mysql.Compile(mysql.ModeSimple, []mysql.Statement{{Text: "x"}}, false), mysql.Order{}); err != nil {
				t.Fatal(err)
			}
			c.Sent(len(c.Output()))
			if err := c.Feed([]byte(answer), &kept{of: c}); err != nil {
				t.Fatal(tt.says, err)
			}
		}
		c.Leave(0, "")
		if got := string(c.Output()); strings.Contains(got, "ROLLBACK") != tt.undoes {
			t.Errorf("%s: the goodbye is %q", tt.says, got)
		}
	}
}
