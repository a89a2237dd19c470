package replytest

import (
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
)

// Begun is a connection that a story plays.
type Begun struct {
	Greeting codec.Greeting
	Opening  string // what the server says in the greeting of "talk"
	Do       func(h *Heard, text string)
	Heard    func(h *Heard, payload []byte) // how an operation ended
	Ends     func(h *Heard)                 // at the end of a story; nil: there is nothing to tell
}

// Stories plays those of testdata.
func Stories(t *testing.T, begin func(t *testing.T, d *datadriven.TestData) (Begun, error)) {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatal("no stories", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
				play := func(cut int) string {
					b, err := begin(t, d)
					if err != nil {
						return err.Error()
					}
					h := &Heard{Begun: b, Cut: cut}
					h.play(t, d)
					return h.String()
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

// Heard writes down what a connection says and writes.
type Heard struct {
	strings.Builder
	Begun
	Cut    int            // bytes of a read
	Conn   codec.Dialogue // nil: it greets
	rounds *codec.Rounds
	over   bool
}

var _ codec.Listener = (*Heard)(nil)

func (h *Heard) play(t *testing.T, d *datadriven.TestData) {
	first, out := codec.NewRounds(h.Greeting)
	h.rounds = first
	h.shows(out)
	if d.Cmd == "talk" {
		h.feed([]byte(h.Opening))
		if h.Reset(); h.Conn == nil {
			d.Fatalf(t, "the opening does not begin a connection")
		}
	}
	for text := range strings.Lines(d.Input) {
		if h.over {
			break
		}
		sign, rest, _ := strings.Cut(strings.TrimSuffix(text, "\n"), " ")
		if sign == ">" {
			h.Do(h, rest)
			h.Writes()
			continue
		}
		said, err := strconv.Unquote(`"` + strings.ReplaceAll(rest, `"`, `\"`) + `"`)
		if err != nil || !strings.HasPrefix(sign, "<") {
			d.Fatalf(t, "%q: %v", text, err)
		}
		if sign != "<raw" {
			said += "\r\n"
		}
		if _, n, found := strings.Cut(sign, "*"); found {
			times, _ := strconv.Atoi(n)
			said = strings.Repeat(said, times)
		}
		h.feed([]byte(said))
	}
	h.ends(d)
}

// feed gives bytes of the server to the connection, or to its greeting.
func (h *Heard) feed(b []byte) {
	for len(b) > 0 && !h.over {
		n := min(h.Cut, len(b))
		some := b[:n]
		b = b[n:]
		if h.Conn == nil {
			some = h.greets(some)
		}
		if len(some) == 0 || h.over {
			continue
		}
		if err := h.Conn.Feed(some, h); err != nil {
			h.over = true
			h.Say("%s", Short(err.Error()))
		}
	}
	if h.Conn != nil {
		h.Writes()
	}
}

// greets gives bytes to the greeting, and returns those behind it.
func (h *Heard) greets(b []byte) []byte {
	wrote, rest, d, err := h.rounds.Feed(nil, b)
	h.shows(wrote)
	switch {
	case err != nil:
		h.over = true
		h.Say("%s", Short(err.Error()))
	case d != nil:
		h.Conn = d
		h.Say("begins")
		return rest
	case h.rounds.Secures():
		h.Say("TLS begins")
		h.shows(h.rounds.Secured(nil, nil))
	}
	return nil
}

func (h *Heard) ends(d *datadriven.TestData) {
	for _, a := range d.CmdArgs {
		if a.Key != "end" {
			continue
		}
		err := map[string]error{"eof": io.EOF, "reset": errors.New("reset")}[a.Vals[0]]
		if h.Conn == nil {
			h.Say("end: %v", h.rounds.End(err))
		} else {
			h.Say("end: %v", h.Conn.End(err))
		}
	}
	if h.Conn == nil {
		return
	}
	if h.Conn.Over() {
		h.Say("over")
	}
	if h.Ends != nil {
		h.Ends(h)
	}
}

// Say writes a line down.
func (h *Heard) Say(format string, values ...any) { fmt.Fprintf(h, format+"\n", values...) }

func (h *Heard) shows(b []byte) {
	for line := range strings.Lines(string(b)) {
		h.Say("-> %s", Short(strings.TrimSuffix(line, "\r\n")))
	}
}

// Writes shows what the connection writes, and lets the kernel take it.
func (h *Heard) Writes() {
	for h.Conn != nil && len(h.Conn.Output()) > 0 {
		h.shows(h.Conn.Output())
		h.Conn.Sent(len(h.Conn.Output()))
	}
}

// Message implements codec.Listener.
func (h *Heard) Message(_ codec.MessageKind, b []byte) { h.Begun.Heard(h, b) }

// Pong implements codec.Listener.
func (h *Heard) Pong(payload uint64) { h.Say("pong %d", payload) }

// Leaves implements codec.Listener.
func (h *Heard) Leaves(code uint16, reason string) { h.Say("leaves %d %s", code, reason) }

// Wrong writes an error down, and says if it has no kind.
func (h *Heard) Wrong(err error) {
	if err == nil {
		return
	}
	h.WriteString(" " + Short(err.Error()))
	if http1.KindOf(err) == http1.KindOther {
		h.WriteString(" without a kind")
	}
}

// Short bounds a text.
func Short(s string) string {
	if len(s) > 200 {
		return s[:200] + "..."
	}
	return s
}
