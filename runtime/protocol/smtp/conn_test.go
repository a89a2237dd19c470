package smtp_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/textproto"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/reply"
	"hyperscale/runtime/protocol/smtp"
)

// counter counts what ends.
type counter struct {
	conn     *smtp.Conn
	ended    int
	err      error
	accepted uint64
	refused  uint64
}

func (c *counter) Message(codec.MessageKind, []byte) {
	o := c.conn.Outcome()
	c.ended++
	c.err, c.accepted, c.refused = o.Err, o.Accepted, o.Refused
}
func (c *counter) Pong(uint64)           {}
func (c *counter) Leaves(uint16, string) {}

// begun returns a connection behind its greeting.
func begun(t rapid.TB, c smtp.Config, pipelines bool) *smtp.Conn {
	p, err := smtp.New(c)
	if err != nil {
		t.Fatal(err)
	}
	said := "220 hi\r\n250 hi\r\n"
	if pipelines {
		said = "220 hi\r\n250-hi\r\n250 PIPELINING\r\n"
	}
	r, _ := codec.NewRounds(p.Greet())
	_, _, d, err := r.Feed(nil, []byte(said))
	if err != nil || d == nil {
		t.Fatal(err)
	}
	return d.(*smtp.Conn)
}

// written returns what a connection writes.
func written(c *smtp.Conn) string {
	var all strings.Builder
	for len(c.Output()) > 0 {
		all.Write(c.Output())
		c.Sent(len(c.Output()))
	}
	return all.String()
}

// Whatever the text and the values, a server reads the lines that were given, once, and nothing behind them.
func TestMessagesAreWhole(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		text := func(name string) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{".", "\r", "\n", "\r\n", "a", "..", " "}), 0, 12).Draw(r, name), "")
		}
		before, value, behind := text("before"), text("value"), text("behind")
		m := smtp.Message{From: reply.Plain("a@x"), To: []reply.Argument{reply.Plain("b@y")}, Body: append(reply.Plain(before), reply.Part{Value: 0})}
		m.Body = append(m.Body, reply.Plain(behind)...)
		if rapid.Bool().Draw(r, "plain") {
			m.Body = reply.Plain(before + value + behind)
		}
		o, err := smtp.Compile(m)
		if err != nil {
			r.Fatal(err)
		}
		c := begun(r, smtp.Config{}, true)
		if err := c.Operate(o, smtp.Order{Values: [][]byte{[]byte(value)}}); err != nil {
			r.Fatal(err)
		}
		written(c)
		if err := c.Feed([]byte("250 a\r\n250 b\r\n354 c\r\n"), &counter{conn: c}); err != nil {
			r.Fatal(err)
		}
		stream := bytes.NewBufferString(written(c))
		read := textproto.NewReader(bufio.NewReader(stream))
		if _, err := read.ReadMIMEHeader(); err != nil {
			r.Fatal(err)
		}
		got, err := read.ReadDotBytes()
		if err != nil {
			r.Fatal(err)
		}
		rest, _ := io.ReadAll(read.R)
		want := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(before + value + behind)
		if want != "" && !strings.HasSuffix(want, "\n") {
			want += "\n"
		}
		if string(got) != want || len(rest) > 0 {
			r.Fatalf("%q and %q behind it, want %q", got, rest, want)
		}
	})
}

// Whatever a server refuses, with PIPELINING and without: an operation ends once, a message goes out if a
// recipient is taken, and the counts are those of the server.
func TestOperationsEndOnce(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		pipelines := rapid.Bool().Draw(r, "pipelines")
		c := begun(r, smtp.Config{}, pipelines)
		h := &counter{conn: c}
		for n := range rapid.IntRange(1, 6).Draw(r, "operations") {
			to := make([]reply.Argument, rapid.IntRange(1, 4).Draw(r, "recipients"))
			for i := range to {
				to[i] = reply.Plain(fmt.Sprintf("b%d@y", i))
			}
			o, err := smtp.Compile(smtp.Message{From: reply.Plain("a@x"), To: to, Body: reply.Plain("x")})
			if err != nil {
				r.Fatal(err)
			}
			if err := c.Operate(o, smtp.Order{}); err != nil {
				r.Fatal(err)
			}
			var accepted, refused uint64
			mailed, taken := false, false
			for h.ended == n {
				out := written(c)
				if out == "" {
					r.Fatal("the connection waits for nothing")
				}
				var said strings.Builder
				for line := range strings.Lines(out) {
					ok := rapid.IntRange(0, 3).Draw(r, "ok") > 0
					switch word, _, _ := strings.Cut(line, ":"); {
					case word == "RSET\r\n":
						said.WriteString("250 reset\r\n")
						mailed = false
					case word == "MAIL FROM" && ok:
						mailed = true
						said.WriteString("250 ok\r\n")
					case word == "RCPT TO" && ok && mailed:
						accepted++
						said.WriteString("250 ok\r\n")
					case word == "RCPT TO" && mailed:
						refused++
						said.WriteString("550 no\r\n")
					case word == "DATA\r\n" && accepted > 0:
						said.WriteString("354 go\r\n")
					case word == ".\r\n" && ok:
						taken = true
						said.WriteString("250 ok\r\n")
					case word == ".\r\n":
						said.WriteString("552 no\r\n")
					case word == "MAIL FROM", word == "RCPT TO", word == "DATA\r\n":
						said.WriteString("503 no\r\n")
					}
				}
				if err := c.Feed([]byte(said.String()), h); err != nil {
					r.Fatal(err)
				}
			}
			if h.ended != n+1 || (h.err == nil) != taken || h.accepted != accepted || h.refused != refused {
				r.Fatalf("%d ended, taken %v: %v, %d accepted and %d refused, want %d and %d", h.ended, taken, h.err, h.accepted, h.refused, accepted, refused)
			}
		}
	})
}

// An operation whose answer is not read allocates nothing, with values and without, whether its commands go out at
// once or one by one.
func TestOperationsAllocateNothing(t *testing.T) {
	replies := [][]byte{[]byte("250 a\r\n"), []byte("250 b\r\n"), []byte("250 c\r\n"), []byte("354 d\r\n"), []byte("250 e\r\n")}
	for name, subject := range map[string]reply.Argument{"plain": reply.Plain("hi"), "values": {{Value: 0}}} {
		o, err := smtp.Compile(smtp.Message{From: reply.Plain("a@x"), To: []reply.Argument{reply.Plain("b@y"), reply.Plain("c@y")}, Subject: subject, Body: reply.Plain(strings.Repeat("line\n", 300))})
		if err != nil {
			t.Fatal(err)
		}
		for _, pipelines := range []bool{true, false} {
			c := begun(t, smtp.Config{}, pipelines)
			h := &counter{conn: c}
			order := smtp.Order{Values: [][]byte{[]byte("v")}, Date: []byte("now"), ID: []byte("1")}
			if n := testing.AllocsPerRun(100, func() {
				_ = c.Operate(o, order)
				for _, r := range replies {
					c.Sent(len(c.Output()))
					_ = c.Feed(r, h)
				}
			}); n != 0 || h.err != nil || h.ended != 101 {
				t.Errorf("%s, pipelining %v: %v allocations, %d ended, %v", name, pipelines, n, h.ended, h.err)
			}
		}
	}
}

// However a server's bytes are cut, the outcome is the same, and nothing panics.
func FuzzFeed(f *testing.F) {
	for _, s := range []string{"220 a\r\n250-a\r\n250 PIPELINING\r\n250 a\r\n250 b\r\n354 c\r\n250 d\r\n421 bye\r\n", "220 a\r\n502 no\r\n250 a\r\n550-no\r\n550 no\r\n", "22\r\n", "220 a\n250-AUTH\n250 AUTH CRAM-MD5\n334 YQ==\n235 ok\n"} {
		f.Add([]byte(s), uint8(3), true)
	}
	f.Fuzz(func(t *testing.T, said []byte, cut uint8, proves bool) {
		play := func(cut int) string {
			config := smtp.Config{Secure: true, User: "app", Secret: "secret"}
			if proves {
				config.Mechanism = smtp.MechanismCRAM
			}
			p, err := smtp.New(config)
			if err != nil {
				t.Fatal(err)
			}
			o, _ := smtp.Compile(smtp.Message{From: reply.Plain("a@x"), To: []reply.Argument{reply.Plain("b@y"), reply.Plain("c@y")}, Body: reply.Plain("x")})
			rounds, _ := codec.NewRounds(p.Greet())
			var conn *smtp.Conn
			var out []byte
			h := &counter{}
			for b := bytes.Clone(said); len(b) > 0; {
				n := min(cut, len(b))
				some := b[:n]
				if b = b[n:]; conn == nil {
					var d codec.Dialogue
					if out, some, d, err = rounds.Feed(out, some); err != nil {
						return fmt.Sprintf("%s %v", out, err)
					}
					if d == nil {
						continue
					}
					conn = d.(*smtp.Conn)
					h.conn = conn
					_ = conn.Operate(o, smtp.Order{Keeps: true})
					conn.Sent(len(conn.Output()))
				}
				if err := conn.Feed(some, h); err != nil {
					return fmt.Sprintf("%s %d %v %v", out, h.ended, h.err, err)
				}
			}
			return fmt.Sprintf("%s %d %v", out, h.ended, h.err)
		}
		whole := play(1 << 30)
		if got := play(int(cut)%16 + 1); got != whole {
			t.Fatalf("in pieces %q, at once %q", got, whole)
		}
	})
}
