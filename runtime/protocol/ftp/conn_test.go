package ftp_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/ftp"
	"hyperscale/runtime/protocol/reply"
)

// counter counts what ends.
type counter struct {
	conn  *ftp.Conn
	ended int
	last  string
}

func (c *counter) Message(_ codec.MessageKind, b []byte) {
	c.ended++
	o := c.conn.Outcome()
	c.last = fmt.Sprintf("%q %d %v", b, o.Bytes, o.Err)
}
func (c *counter) Pong(uint64)           {}
func (c *counter) Leaves(uint16, string) {}

func begun(t rapid.TB) *ftp.Conn {
	p, err := ftp.New(ftp.Config{})
	if err != nil {
		t.Fatal(err)
	}
	r, _ := codec.NewRounds(p.Greet())
	_, _, d, err := r.Feed(nil, []byte("220 hi\r\n230 in\r\n200 binary\r\n"))
	if err != nil || d == nil {
		t.Fatal(err)
	}
	return d.(*ftp.Conn)
}

// In whatever order both connections bring what they have, a file is whole once, and a cut one never is.
func TestDownloadsAreWhole(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := begun(r)
		h := &counter{conn: c}
		for n := range rapid.IntRange(1, 4).Draw(r, "files") {
			file := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(r, "file")
			cut := rapid.IntRange(0, 3).Draw(r, "cut") == 0
			if err := c.Operate(ftp.Get(reply.Plain("x")), ftp.Order{Keeps: true}); err != nil {
				r.Fatal(err)
			}
			feed := func(said string) {
				c.Sent(len(c.Output()))
				if err := c.Feed([]byte(said), h); err != nil {
					r.Fatal(err)
				}
			}
			feed("229 (|||4711|)\r\n")
			c.Branched(false)
			data, control := file, []string{"150 go\r\n", "226 done\r\n"}
			for over := false; len(control) > 0 || !over; {
				if h.ended != n {
					r.Fatalf("it is over before both have ended: %s", h.last)
				}
				if len(control) > 0 && (over || rapid.Bool().Draw(r, "control")) {
					feed(control[0])
					control = control[1:]
					continue
				}
				if len(data) > 0 {
					some := rapid.IntRange(1, len(data)).Draw(r, "some")
					if err := c.BranchFeed(data[:some], h); err != nil {
						r.Fatal(err)
					}
					data = data[some:]
					continue
				}
				over = true
				end := io.EOF
				if cut {
					end = io.ErrUnexpectedEOF
				}
				if err := c.BranchEnds(end, h); err != nil {
					r.Fatal(err)
				}
			}
			want := fmt.Sprintf("%q %d <nil>", file, len(file))
			if h.ended != n+1 || (h.last == want) == cut {
				r.Fatalf("%d are over: %s, want %s, cut %v", h.ended, h.last, want, cut)
			}
		}
	})
}

// An operation whose answer is not read allocates nothing.
func TestOperationsAllocateNothing(t *testing.T) {
	c := begun(t)
	h := &struct{ silent }{}
	o := ftp.Get(reply.Plain("/pub/x"))
	port, begins, data, ends := []byte("229 (|||4711|)\r\n"), []byte("150 go\r\n"), []byte("hello"), []byte("226 done\r\n")
	if n := testing.AllocsPerRun(100, func() {
		_ = c.Operate(o, ftp.Order{})
		c.Sent(len(c.Output()))
		_ = c.Feed(port, h)
		c.Branched(false)
		c.Sent(len(c.Output()))
		_ = c.Feed(begins, h)
		_ = c.BranchFeed(data, h)
		_ = c.BranchEnds(io.EOF, h)
		_ = c.Feed(ends, h)
	}); n != 0 || h.ended != 101 {
		t.Errorf("%v allocations, %d ended", n, h.ended)
	}
}

type silent struct{ ended int }

func (s *silent) Message(codec.MessageKind, []byte) { s.ended++ }
func (s *silent) Pong(uint64)                       {}
func (s *silent) Leaves(uint16, string)             {}

// However a server's bytes are cut, the outcome is the same, and nothing panics.
func FuzzFeed(f *testing.F) {
	for _, s := range []string{"220 a\r\n230 in\r\n200 b\r\n229 (|||1|)\r\n150 go\r\n226 done\r\n", "220-a\r\n x\r\n220 a\r\n331 p\r\n230 in\r\n200 b\r\n500 no\r\n227 =1,2,3,4,5,6\r\n", "120 a\n332 b\n"} {
		f.Add([]byte(s), uint8(3))
	}
	f.Fuzz(func(t *testing.T, said []byte, cut uint8) {
		play := func(cut int) string {
			p, err := ftp.New(ftp.Config{})
			if err != nil {
				t.Fatal(err)
			}
			rounds, _ := codec.NewRounds(p.Greet())
			var conn *ftp.Conn
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
					conn = d.(*ftp.Conn)
					h.conn = conn
					_ = conn.Operate(ftp.Rename(reply.Plain("a"), reply.Plain("b")), ftp.Order{})
					conn.Sent(len(conn.Output()))
				}
				err := conn.Feed(some, h)
				_ = conn.BranchFeed(some, h)
				if err != nil {
					return fmt.Sprintf("%s %d %s %v", out, h.ended, h.last, err)
				}
			}
			return fmt.Sprintf("%s %d %s", out, h.ended, h.last)
		}
		whole := play(1 << 30)
		if got := play(int(cut)%16 + 1); got != whole {
			t.Fatalf("in pieces %q, at once %q", got, whole)
		}
	})
}

// What a server repeats of the password is in no error, wherever it repeats it.
func TestErrorsHideThePassword(t *testing.T) {
	const secret = "hunter2secret"
	begin := func() (*codec.Rounds, string) {
		p, err := ftp.New(ftp.Config{User: "u", Password: secret})
		if err != nil {
			t.Fatal(err)
		}
		r, _ := codec.NewRounds(p.Greet())
		return r, "220 hi\r\n331 password\r\n"
	}
	judge := func(said string, err error) {
		if err == nil || strings.Contains(err.Error(), secret[:8]) {
			t.Errorf("%.60q: %v", said, err)
		}
	}
	for _, said := range []string{
		"331 you said " + secret, "PASS " + secret, "332 " + secret, "150 " + secret, "530 a\t" + secret, "530 " + strings.Repeat("x", 245) + secret,
	} {
		r, hello := begin()
		_, _, _, err := r.Feed(nil, []byte(hello+said+"\r\n"))
		judge(said, err)
	}
	for _, said := range []string{"229 " + secret, "150 " + secret, secret} {
		r, hello := begin()
		_, _, d, err := r.Feed(nil, []byte(hello+"230 in\r\n200 binary\r\n"))
		if err != nil {
			t.Fatal(err)
		}
		c := d.(*ftp.Conn)
		if err := c.Operate(ftp.Get(reply.Plain("x")), ftp.Order{}); err != nil {
			t.Fatal(err)
		}
		c.Sent(len(c.Output()))
		judge(said, c.Feed([]byte(said+"\r\n"), &counter{conn: c}))
	}
}

// A reply that began before a command was said answers none, also between two commands of one transfer.
func TestEarlyRepliesAnswerNothing(t *testing.T) {
	c := begun(t)
	h := &counter{conn: c}
	say := func() { c.Sent(len(c.Output())) }
	if err := c.Operate(ftp.Delete(reply.Plain("a")), ftp.Order{}); err != nil {
		t.Fatal(err)
	}
	say()
	if err := c.Feed([]byte("250 gone\r\n250 l"), h); err != nil || h.ended != 1 {
		t.Fatal(h.ended, err)
	}
	if err := c.Operate(ftp.Delete(reply.Plain("b")), ftp.Order{}); err != nil {
		t.Fatal(err)
	}
	say()
	if err := c.Feed([]byte("ate\r\n"), h); err == nil || h.ended != 1 {
		t.Errorf("%d ended, the last one %s: %v", h.ended, h.last, err)
	}
	c = begun(t)
	h = &counter{conn: c}
	if err := c.Operate(ftp.Get(reply.Plain("a")), ftp.Order{}); err != nil {
		t.Fatal(err)
	}
	say()
	if err := c.Feed([]byte("229 (|||4711|)\r\n150 g"), h); err != nil {
		t.Fatal(err)
	}
	c.Branched(false)
	say()
	if err := c.Feed([]byte("o\r\n226 x\r\n"), h); err == nil || h.ended != 0 {
		t.Errorf("%d ended: %v", h.ended, err)
	}
}

// An upload is whole if this machine has sent all of it.
func TestUploadsThatStayHereAreNotWhole(t *testing.T) {
	for held, want := range map[int]bool{0: true, 1: false} {
		c := begun(t)
		h := &counter{conn: c}
		if err := c.Operate(ftp.PutBytes(reply.Plain("a"), []byte("hello")), ftp.Order{}); err != nil {
			t.Fatal(err)
		}
		for _, said := range []string{"229 (|||4711|)\r\n", "150 go\r\n"} {
			c.Sent(len(c.Output()))
			if err := c.Feed([]byte(said), h); err != nil {
				t.Fatal(err)
			}
			c.Branched(false)
		}
		c.BranchSent(len(c.BranchOutput()))
		c.BranchHeld(held)
		if err := c.Feed([]byte("226 done\r\n"), h); (err == nil) != want || (h.ended == 1) != want {
			t.Errorf("%d bytes are held: %d ended, %v", held, h.ended, err)
		}
	}
}

// A server that says 421 behind the end of a transfer has ended it: the file is whole once its data is.
func TestGoodbyesBehindATransfer(t *testing.T) {
	c := begun(t)
	h := &counter{conn: c}
	say := func(said string) {
		t.Helper()
		c.Sent(len(c.Output()))
		if err := c.Feed([]byte(said), h); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Operate(ftp.Get(reply.Plain("a")), ftp.Order{}); err != nil {
		t.Fatal(err)
	}
	say("229 (|||4711|)\r\n")
	c.Branched(false)
	say("150 go\r\n226 done\r\n421 bye\r\n")
	if err := c.BranchEnds(io.EOF, h); err != nil || h.ended != 1 || c.Outcome().Err != nil || !c.Over() {
		t.Errorf("%d ended, %v, over %v: %v", h.ended, c.Outcome().Err, c.Over(), err)
	}
}

// Only a server that does not have EPSV is asked by PASV: another refusal is the operation's own.
func TestPASVIsForServersWithoutEPSV(t *testing.T) {
	for code, passive := range map[int]bool{500: true, 502: true, 522: true, 530: false, 550: false} {
		c := begun(t)
		h := &counter{conn: c}
		if err := c.Operate(ftp.Get(reply.Plain("a")), ftp.Order{}); err != nil {
			t.Fatal(err)
		}
		c.Sent(len(c.Output()))
		if err := c.Feed(fmt.Appendf(nil, "%d no\r\n", code), h); err != nil {
			t.Fatal(err)
		}
		if said := string(c.Output()); (said == "PASV\r\n") != passive || (h.ended == 1) == passive {
			t.Errorf("behind %d it says %q, and %d ended", code, said, h.ended)
		}
	}
}
