package custom_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"hyperscale/runtime/protocol/custom"
)

// Stories give calls, what a program says, and the outcome, which must be the same whether its bytes come
// at once or in pieces.
//
//	talk [in_flight=N]
//
// A line with > does something: "> call NAME ARGS" with ${0} for the value "one\"two", "> cancel N" of the
// N-th call, "> end", "> close". One with < is the program's bytes, escaped as in Go, without their line's
// end; <*N repeats them, and <+ has no line's end.
func TestStories(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatal("no stories", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
				want := tell(t, d, 1<<30)
				for _, cut := range []int{1, 2, 3, 7, 1 << 10} {
					if got := tell(t, d, cut); got != want {
						t.Errorf("%s: in pieces of %d bytes:\n%s\nat once:\n%s", d.Pos, cut, got, want)
					}
				}
				return want
			})
		})
	}
}

type story struct {
	strings.Builder
	conn   *custom.Conn
	sent   uint64
	late   uint64
	calls  []int32
	broken bool
}

func (s *story) Answered(tag uint64, a *custom.Answer) {
	fmt.Fprintf(s, "%d: %d %q", tag, a.Status, a.Body)
	if a.Err != nil {
		fmt.Fprintf(s, " %s: %s", a.Err.Kind, a.Err.Detail)
	}
	p, _ := s.conn.Program()
	for _, m := range a.Measures {
		fmt.Fprintf(s, " %s=%d", p.Measures[m.At], m.N)
	}
	fmt.Fprintln(s)
}

func tell(t *testing.T, d *datadriven.TestData, cut int) string {
	inFlight := 2
	d.MaybeScanArgs(t, "in_flight", &inFlight)
	s := &story{conn: custom.New(custom.Hello{Executor: 3, Process: 1, Seed: 7, InFlight: inFlight})}
	for _, line := range strings.Split(d.Input, "\n") {
		word, rest, _ := strings.Cut(line, " ")
		if s.broken {
			break
		}
		if strings.HasPrefix(word, "<") {
			s.hears(t, word[1:], rest, cut)
			continue
		}
		s.does(t, rest)
	}
	s.flush()
	n, over := s.conn.Calls()
	fmt.Fprintf(s, "asked %d, sent %d, late %d, open %d", s.conn.Asked(), s.sent, s.late, s.conn.Busy())
	if over && !s.broken {
		fmt.Fprintf(s, "; it says %d", n)
	}
	return s.String()
}

// hears gives the program's bytes to the conversation.
func (s *story) hears(t *testing.T, how, text string, cut int) {
	s.flush()
	b, err := strconv.Unquote(`"` + strings.ReplaceAll(text, `"`, `\"`) + `"`)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	if n, repeats := strings.CutPrefix(how, "*"); repeats {
		times, _ := strconv.Atoi(n)
		b = strings.Repeat(b, times)
	}
	if how != "+" {
		b += "\n"
	}
	for part := range slices.Chunk([]byte(b), cut) {
		if err := s.conn.Feed(part, s); err != nil {
			fmt.Fprintln(s, err)
			s.broken = true
			fmt.Fprintln(s, "leaves", s.conn.Close())
			return
		}
	}
}

func (s *story) does(t *testing.T, text string) {
	verb, rest, _ := strings.Cut(text, " ")
	switch verb {
	case "call":
		name, args, _ := strings.Cut(rest, " ")
		if !s.conn.Room() {
			fmt.Fprintln(s, "no room")
			return
		}
		head, tail, has := strings.Cut(args, "${0}")
		parts := []custom.Part{{Text: head, Value: -1}}
		if has {
			parts = append(parts, custom.Part{Value: 0}, custom.Part{Text: tail, Value: -1})
		}
		value := []byte(`one"two`)
		if name == "long" {
			value = make([]byte, custom.LineMost/5)
		}
		at, err := s.conn.Operate(custom.Compile(name, parts), custom.Order{Tag: uint64(len(s.calls)), User: 4, Timeout: 5 * time.Second, Values: [][]byte{value}, Sent: &s.sent})
		if err != nil {
			fmt.Fprintln(s, err)
			return
		}
		s.calls = append(s.calls, at)
	case "cancel":
		n, _ := strconv.Atoi(rest)
		s.conn.Cancel(s.calls[n], &s.late)
	case "end":
		s.conn.End()
	case "close":
		fmt.Fprintln(s, "leaves", s.conn.Close())
	default:
		t.Fatal(text)
	}
}

// flush writes all that is queued.
func (s *story) flush() {
	for _, line := range strings.SplitAfter(string(s.conn.Output()), "\n") {
		if line != "" {
			fmt.Fprint(s, "-> ", line)
		}
	}
	s.conn.Sent(len(s.conn.Output()))
}
