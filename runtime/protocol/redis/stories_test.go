package redis_test

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
	"hyperscale/runtime/protocol/redis"
)

// Stories give operations, a server's bytes, and the outcome, which must be the same whether the
// bytes come at once, byte by byte or in pieces, and, but for the answers, whether they are read.
//
//	feed [limit=N] [end=eof|reset]
//	greet [version=N] [user=NAME] [password=WORD] [database=N]
//
// A line with > queues an operation, whose commands a semicolon parts; one with < is the server's
// bytes, escaped as in Go; <*N repeats them.
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
				want := play(1<<30, true)
				for _, cut := range []int{1, 2, 3, 7, 1 << 10} {
					if got := play(cut, true); got != want {
						t.Errorf("%s: in pieces of %d bytes:\n%s\nat once:\n%s", d.Pos, cut, got, want)
					}
				}
				if d.Cmd == "feed" {
					if got, want := unread(s.feed(5, false)), unread(want); got != want {
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
	config redis.Config
	end    error
	lines  []line
}

type line struct {
	operation *redis.Operation
	bytes     []byte
}

func (s *scene) read(t *testing.T, d *datadriven.TestData) {
	number := func(text string) int {
		n, err := strconv.Atoi(text)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		return n
	}
	for _, a := range d.CmdArgs {
		switch value := strings.Join(a.Vals, ", "); a.Key {
		case "limit":
			s.config.AnswerMax = int64(number(value))
		case "version":
			s.config.Version = number(value)
		case "user":
			s.config.User = value
		case "password":
			s.config.Password = value
		case "database":
			s.config.Database = number(value)
		case "end":
			s.end = map[string]error{"eof": io.EOF, "reset": errors.New("reset")}[value]
		default:
			d.Fatalf(t, "no argument is called %q", a.Key)
		}
	}
	for text := range strings.Lines(d.Input) {
		text = strings.TrimSuffix(text, "\n")
		sign, rest, _ := strings.Cut(text, " ")
		if sign == ">" {
			s.lines = append(s.lines, line{operation: operation(rest)})
			continue
		}
		times := 1
		if _, n, found := strings.Cut(sign, "*"); found {
			times = number(n)
		}
		said, err := strconv.Unquote(`"` + strings.ReplaceAll(rest, `"`, `\"`) + `"`)
		if err != nil || !strings.HasPrefix(sign, "<") {
			d.Fatalf(t, "%q: %v", text, err)
		}
		s.lines = append(s.lines, line{bytes: []byte(strings.Repeat(said, times))})
	}
}

// operation makes one of words; a semicolon parts commands.
func operation(text string) *redis.Operation {
	var commands []redis.Command
	for _, one := range strings.Split(text, ";") {
		var c redis.Command
		for _, word := range strings.Fields(one) {
			c = append(c, redis.Text(word))
		}
		commands = append(commands, c)
	}
	return redis.Compile(commands)
}

// hearer writes what it hears.
type hearer struct {
	of    *redis.Conn
	lines []string
}

func (h *hearer) Message(kind codec.MessageKind, b []byte) {
	o := h.of.Outcome()
	text := fmt.Sprintf("#%d %.80s", o.Tag, b)
	if len(b) > 80 {
		text += fmt.Sprintf("... of %d", len(b))
	}
	if o.Hits+o.Misses > 0 {
		text += fmt.Sprintf(" (%d hits, %d misses)", o.Hits, o.Misses)
	}
	if o.Err != nil {
		text += fmt.Sprintf("\n  %v", o.Err)
	}
	if kind != codec.MessageText {
		text += " (not a text)"
	}
	h.lines = append(h.lines, text)
}
func (h *hearer) Pong(payload uint64)               { h.lines = append(h.lines, fmt.Sprintf("pong %d", payload)) }
func (h *hearer) Leaves(code uint16, reason string) { h.lines = append(h.lines, "leaves") }

// unread cuts the answers out of an outcome.
func unread(outcome string) string {
	var all []string
	for _, text := range strings.Split(outcome, "\n") {
		if tag, rest, found := strings.Cut(text, " "); found && strings.HasPrefix(tag, "#") {
			text = tag
			if at := strings.LastIndex(rest, " ("); at >= 0 {
				text += rest[at:]
			}
		}
		all = append(all, text)
	}
	return strings.Join(all, "\n")
}

func (s *scene) feed(cut int, keeps bool) string {
	c := redis.New(s.config).Begin()
	on := &hearer{of: c}
	var err error
	tag := uint64(0)
	for _, l := range s.lines {
		if l.operation != nil {
			tag++
			if err := c.Operate(l.operation, redis.Order{Tag: tag, Keeps: keeps}); err != nil {
				on.lines = append(on.lines, "not sent: "+err.Error())
			}
			c.Sent(c.Unsent())
			continue
		}
		for b := l.bytes; len(b) > 0 && err == nil; {
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
	if len(on.lines) == 0 {
		return "nothing is heard\n"
	}
	return strings.Join(on.lines, "\n") + "\n"
}

// greet hears a greeting as the engine's loop does.
func (s *scene) greet(cut int, _ bool) string {
	p := redis.New(s.config)
	if !p.Greets() {
		return "it says nothing\n"
	}
	g := p.Greet()
	out := string(redis.Describe(nil, g.Begin(nil), true)) + "\n"
	var held []byte
	for _, l := range s.lines {
		for b := l.bytes; len(b) > 0; {
			n := min(cut, len(b))
			held, b = append(held, b[:n]...), b[n:]
			for len(held) > 0 {
				_, used, d, err := g.Hear(nil, held)
				if err != nil {
					return out + err.Error() + "\n"
				}
				if d != nil {
					out += fmt.Sprintf("open: %s\n", g.First())
					if err := d.Feed(held[used:], &hearer{of: d.(*redis.Conn)}); err != nil {
						out += err.Error() + "\n"
					}
					return out
				}
				if held = held[used:]; used == 0 {
					break
				}
			}
		}
	}
	return out + fmt.Sprintf("%d bytes wait\n", len(held))
}

// kindOf is for tests that compare kinds.
func kindOf(err error) http1.Kind { return http1.KindOf(err) }
