package mysql_test

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
	"hyperscale/runtime/protocol/mysql"
)

// Stories give operations, a server's packets, and the outcome, which must be the same whether the
// bytes come at once, byte by byte or in pieces, and, but for the rows, whether they are read.
//
//	feed [limit=N] [mode=unnamed|simple] [end=eof|reset] [full] [read]
//	greet [user=NAME] [password=WORD] [database=NAME] [tls] [several]
//
// A line with > begins an operation, whose statements a semicolon parts and whose arguments follow a
// bar; >> makes one transaction of it. A line with < is the server's packets in answer to one command,
// which a semicolon parts; <*N repeats them. Full: packets end descriptions. In a story that is only
// read, rows tell what no one else sees.
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
				play := s.feed
				if d.Cmd == "greet" {
					play = s.greet
				}
				want := play(t, 1<<30, true)
				for _, cut := range []int{1, 2, 3, 7, 1 << 10} {
					if got := play(t, cut, true); got != want {
						t.Errorf("%s: in pieces of %d bytes:\n%s\nat once:\n%s", d.Pos, cut, got, want)
					}
				}
				if d.Cmd == "feed" && !s.only {
					whole := s.feed(t, 1<<30, false)
					for _, cut := range []int{1, 5} {
						if got := s.feed(t, cut, false); got != whole {
							t.Errorf("%s: unread in pieces of %d:\n%s\nat once:\n%s", d.Pos, cut, got, whole)
						}
					}
					if got, want := unread(whole), unread(want); got != want {
						t.Errorf("%s: unread:\n%s\nread:\n%s", d.Pos, got, want)
					}
				}
				return want
			})
		})
	}
}

// scene is a story.
type scene struct {
	config mysql.Config
	mode   mysql.Mode
	full   bool
	only   bool // it is read
	end    error
	lines  []line
}

type line struct {
	operation *mysql.Operation
	text      string // of the server's packets
	times     int
}

func (s *scene) read(t *testing.T, d *datadriven.TestData) {
	for _, a := range d.CmdArgs {
		switch value := strings.Join(a.Vals, ", "); a.Key {
		case "limit":
			n, err := strconv.Atoi(value)
			if err != nil {
				d.Fatalf(t, "%v", err)
			}
			s.config.AnswerMax = int64(n)
		case "mode":
			s.mode = map[string]mysql.Mode{"unnamed": mysql.ModeUnnamed, "simple": mysql.ModeSimple}[value]
		case "user":
			s.config.User = value
		case "password":
			s.config.Password = value
		case "database":
			s.config.Database = value
		case "tls":
			s.config.TLS = true
		case "several":
			s.config.Several = true
		case "full":
			s.full = true
		case "read":
			s.only = true
		case "end":
			s.end = map[string]error{"eof": io.EOF, "reset": errors.New("reset")}[value]
		default:
			d.Fatalf(t, "no argument is called %q", a.Key)
		}
	}
	for text := range strings.Lines(d.Input) {
		text = strings.TrimSuffix(text, "\n")
		sign, rest, _ := strings.Cut(text, " ")
		switch {
		case sign == ">" || sign == ">>":
			s.lines = append(s.lines, line{operation: operation(s.mode, rest, sign == ">>")})
		case strings.HasPrefix(sign, "<"):
			times := 1
			if _, n, found := strings.Cut(sign, "*"); found {
				times, _ = strconv.Atoi(n)
			}
			s.lines = append(s.lines, line{text: rest, times: times})
		default:
			d.Fatalf(t, "%q is neither ours nor the server's", text)
		}
	}
}

// operation makes one of a text: statements that a semicolon parts, arguments behind a bar.
func operation(mode mysql.Mode, text string, whole bool) *mysql.Operation {
	var all []mysql.Statement
	for _, one := range strings.Split(text, ";") {
		query, args, found := strings.Cut(strings.TrimSpace(one), " | ")
		s := mysql.Statement{Text: query}
		if found {
			for _, a := range strings.Fields(args) {
				literal := []mysql.Part{{Text: strings.TrimSuffix(a[1:], "'"), Value: -1}}
				switch {
				case a == "null":
					s.Args = append(s.Args, mysql.Argument{Kind: mysql.KindNull})
				case a[0] == 'x':
					s.Args = append(s.Args, mysql.Argument{Kind: mysql.KindBytes, Parts: literal})
				case a[0] == 'f':
					s.Args = append(s.Args, mysql.Argument{Kind: mysql.KindFloat, Parts: literal})
				case a[0] == 'i':
					s.Args = append(s.Args, mysql.Argument{Kind: mysql.KindInteger, Parts: literal})
				case a[0] == '$':
					n, _ := strconv.Atoi(a[1:])
					s.Args = append(s.Args, mysql.Argument{Parts: []mysql.Part{{Text: "v", Value: n}}})
				default:
					s.Args = append(s.Args, mysql.Text(a))
				}
			}
		}
		all = append(all, s)
	}
	return mysql.Compile(mode, all, whole)
}

// hearer writes what it hears.
type hearer struct {
	of    *mysql.Conn
	lines []string
}

func (h *hearer) Message(kind codec.MessageKind, b []byte) {
	o := h.of.Outcome()
	text := fmt.Sprintf("#%d %.300s", o.Tag, b)
	if len(b) > 300 {
		text += fmt.Sprintf("... of %d", len(b))
	}
	text += fmt.Sprintf(" (%d rows, %d affected)", o.Rows, o.Affected)
	if o.Err != nil {
		text += fmt.Sprintf("\n  %v", o.Err)
	}
	if kind != codec.MessageText {
		text += " (not a text)"
	}
	h.lines = append(h.lines, text)
}
func (h *hearer) Pong(payload uint64)   { h.lines = append(h.lines, fmt.Sprintf("pong %d", payload)) }
func (h *hearer) Leaves(uint16, string) { h.lines = append(h.lines, "leaves") }

// unread cuts the rows out of an outcome.
func unread(outcome string) string {
	var all []string
	for _, text := range strings.Split(outcome, "\n") {
		if tag, rest, found := strings.Cut(text, " "); found && strings.HasPrefix(tag, "#") {
			text = tag + rest[max(strings.LastIndex(rest, " ("), 0):]
		}
		all = append(all, text)
	}
	return strings.Join(all, "\n")
}

func (s *scene) feed(t *testing.T, cut int, keeps bool) string {
	c := mysql.New(s.config).Begin(!s.full)
	on := &hearer{of: c}
	var err error
	said := func() {
		if c.Unsent() > 0 {
			owes := ""
			if c.Owes() {
				owes = " ..."
			}
			on.lines = append(on.lines, "> "+string(mysql.Describe(nil, c.Output(), true, false))+owes)
			c.Sent(c.Unsent())
		}
	}
	tag := uint64(0)
	for i := range s.lines {
		l := &s.lines[i]
		if l.operation != nil {
			tag++
			if err := c.Operate(l.operation, mysql.Order{Tag: tag, Keeps: keeps, Values: [][]byte{[]byte("0"), []byte("1")}}); err != nil {
				on.lines = append(on.lines, "not sent: "+err.Error())
			}
			said()
			continue
		}
		for b := answer(t, strings.Repeat(l.text+";", l.times), 1, 1); len(b) > 0 && err == nil; {
			piece := append([]byte(nil), b[:min(cut, len(b))]...)
			err = c.Feed(piece, on)
			clear(piece)
			b = b[len(piece):]
		}
		said()
	}
	if err == nil && s.end != nil {
		err = c.End(s.end)
	}
	if err != nil {
		on.lines = append(on.lines, err.Error())
	}
	if err == nil && c.Over() {
		on.lines = append(on.lines, "over")
	}
	if len(on.lines) == 0 {
		return "nothing is heard\n"
	}
	return strings.Join(on.lines, "\n") + "\n"
}

// greet hears a greeting as the engine's loop does.
func (s *scene) greet(t *testing.T, cut int, _ bool) string {
	g := mysql.New(s.config).Greet()
	rounds, answers := codec.NewRounds(g)
	play := func() string {
		step := byte(0)
		for i := range s.lines {
			for range s.lines[i].times {
				b := answer(t, s.lines[i].text, step, 2)
				for step += byte(2 * len(strings.Split(s.lines[i].text, ";"))); len(b) > 0; {
					n := min(cut, len(b))
					said, rest, d, err := rounds.Feed(answers, b[:n])
					answers, b = said, b[n:]
					if err == nil && rounds.Secures() {
						answers = rounds.Secured(answers, nil)
						step++
					}
					if err != nil {
						return err.Error() + "\n"
					}
					if d != nil {
						text := fmt.Sprintf("open: %s by %s\n", g.Server(), g.Plugin())
						if err := d.Feed(append(rest, b...), &hearer{of: d.(*mysql.Conn)}); err != nil {
							text += err.Error() + "\n"
						}
						return text
					}
				}
			}
		}
		return rounds.End(io.EOF).Error() + "\n"
	}
	end, out := play(), ""
	if len(answers) > 0 {
		out = string(mysql.Describe(nil, answers, true, true)) + "\n"
		out += fmt.Sprintf("  %q\n", answers)
	}
	return out + end
}

// kindOf is for tests that compare kinds.
func kindOf(err error) http1.Kind { return http1.KindOf(err) }
