package postgres_test

import (
	"bytes"
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
	"hyperscale/runtime/protocol/postgres"
)

// Stories give operations, a server's messages, and the outcome, which must be the same whether the
// bytes come at once, byte by byte or in pieces, and, but for the rows, whether they are read.
//
//	feed [limit=N] [mode=unnamed|simple] [end=eof|reset] [read]
//	greet [user=NAME] [password=WORD] [database=NAME] [secure] [binding=TEXT]
//
// A line with > queues an operation, whose statements a semicolon parts and whose arguments follow a
// bar; >> makes one transaction of it, >c copies: rows stand behind the bar, and none come from the server. A line with < is the server's messages, which a semicolon
// parts; <*N repeats them. In a story that is only read, rows tell what no one else sees.
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
	config postgres.Config
	mode   postgres.Mode
	only   bool // it is read
	end    error
	lines  []line
	// binding is what the channel is, once TLS stands.
	binding []byte
}

type line struct {
	operation *postgres.Operation
	text      string // of the server's messages
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
			s.mode = map[string]postgres.Mode{"unnamed": postgres.ModeUnnamed, "simple": postgres.ModeSimple}[value]
		case "user":
			s.config.User = value
		case "password":
			s.config.Password = value
		case "database":
			s.config.Database = value
		case "secure":
			s.config.TLS = true
		case "binding":
			s.binding = []byte(value)
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
		case sign == ">c":
			text, rows, takes := strings.Cut(rest, " | ")
			of := postgres.Copy(text, nil)
			if takes {
				of = postgres.Copy(text, []byte(rows))
			}
			s.lines = append(s.lines, line{operation: of})
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
func operation(mode postgres.Mode, text string, whole bool) *postgres.Operation {
	var all []postgres.Statement
	for _, one := range strings.Split(text, ";") {
		query, args, found := strings.Cut(strings.TrimSpace(one), " | ")
		s := postgres.Statement{Text: query}
		if found {
			for _, a := range strings.Fields(args) {
				switch {
				case a == "null":
					s.Args = append(s.Args, nil)
				case strings.HasPrefix(a, "$"):
					n, _ := strconv.Atoi(a[1:])
					s.Args = append(s.Args, postgres.Argument{{Text: "v", Value: n}})
				default:
					s.Args = append(s.Args, postgres.Text(a))
				}
			}
		}
		all = append(all, s)
	}
	return postgres.Compile(mode, all, whole)
}

// hearer writes what it hears.
type hearer struct {
	of    *postgres.Conn
	lines []string
}

func (h *hearer) Message(kind codec.MessageKind, b []byte) {
	o := h.of.Outcome()
	text := fmt.Sprintf("#%d %.120s", o.Tag, bytes.ReplaceAll(b, []byte("\n"), []byte(`\n`)))
	if len(b) > 120 {
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
		if _, shown, found := strings.Cut(text, "> "); found {
			text = strings.ReplaceAll(shown, "; Describe", "")
		}
		all = append(all, text)
	}
	return strings.Join(all, "\n")
}

// server is what a line's messages are: a server describes rows only for those who ask.
func (l *line) server(t *testing.T, keeps bool) (b []byte) {
	text := l.text
	if !keeps {
		var kept []string
		for _, one := range strings.Split(text, ";") {
			if kind := strings.Fields(one)[0]; kind != "T" && kind != "n" {
				kept = append(kept, one)
			}
		}
		if text = strings.Join(kept, ";"); text == "" {
			return nil
		}
	}
	one := wires(t, text)
	for range l.times {
		b = append(b, one...)
	}
	return b
}

func (s *scene) feed(t *testing.T, cut int, keeps bool) string {
	c := postgres.New(s.config).Begin()
	on := &hearer{of: c}
	var err error
	tag := uint64(0)
	for i := range s.lines {
		l := &s.lines[i]
		if l.operation != nil {
			tag++
			if err := c.Operate(l.operation, postgres.Order{Tag: tag, Keeps: keeps, Values: [][]byte{[]byte("0"), []byte("1")}}); err != nil {
				on.lines = append(on.lines, "not sent: "+err.Error())
			} else {
				on.lines = append(on.lines, "> "+string(postgres.Describe(nil, c.Output(), true)))
			}
			c.Sent(c.Unsent())
			continue
		}
		for b := l.server(t, keeps || s.mode == postgres.ModeSimple); len(b) > 0 && err == nil; {
			piece := append([]byte(nil), b[:min(cut, len(b))]...)
			err = c.Feed(piece, on)
			clear(piece)
			b = b[len(piece):]
		}
	}
	if err == nil && s.end != nil {
		err = c.End(s.end)
	}
	if err != nil {
		on.lines = append(on.lines, err.Error())
	}
	if c.Open() > 0 {
		on.lines = append(on.lines, fmt.Sprintf("%d open", c.Open()))
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
	g := postgres.New(s.config).Greet([18]byte{})
	rounds, said := codec.NewRounds(g)
	out, answers := string(postgres.Describe(nil, said, true))+"\n", []byte(nil)
	play := func() string {
		for i := range s.lines {
			for b := s.lines[i].server(t, true); len(b) > 0; {
				n := min(cut, len(b))
				said, rest, d, err := rounds.Feed(answers, b[:n])
				for err == nil && rounds.Works() {
					said, rest, d, err = rounds.Feed(said, nil)
				}
				answers, b = said, b[n:]
				if err != nil {
					return err.Error() + "\n"
				}
				if rounds.Secures() {
					answers = rounds.Secured(answers, s.binding)
				}
				if d != nil {
					text := fmt.Sprintf("open: %s\n", g.Server())
					if err := d.Feed(append(rest, b...), &hearer{of: d.(*postgres.Conn)}); err != nil {
						text += err.Error() + "\n"
					}
					return text
				}
			}
		}
		return rounds.End(io.EOF).Error() + "\n"
	}
	end := play()
	if len(answers) > 0 {
		out += string(postgres.Describe(nil, answers, true)) + "\n"
		if s.config.TLS || strings.Contains(string(answers), "md5") {
			_, proof, _ := bytes.Cut(answers, []byte("UTF8\x00\x00")) // behind the startup
			if len(proof) == 0 && !s.config.TLS {
				proof = answers
			}
			out += fmt.Sprintf("  in clear: %.160q\n", proof[min(5, len(proof)):])
		}
	}
	return out + end
}

// kindOf is for tests that compare kinds.
func kindOf(err error) http1.Kind { return http1.KindOf(err) }
