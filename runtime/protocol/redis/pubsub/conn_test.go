package pubsub_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/redis/pubsub"
)

// heard writes down what a connection reports.
type heard struct {
	c     *pubsub.Conn
	lines []string
}

func (h *heard) Message(kind codec.MessageKind, payload []byte) {
	switch from := h.c.From(); kind {
	case pubsub.MessageStands:
		h.lines = append(h.lines, "stands")
	default:
		h.lines = append(h.lines, fmt.Sprintf("%d %s|%s %q", kind, from.Channel, from.Pattern, payload))
	}
}
func (h *heard) Pong(payload uint64)          { h.lines = append(h.lines, fmt.Sprint("pong ", payload)) }
func (h *heard) Leaves(code uint16, _ string) { h.lines = append(h.lines, fmt.Sprint("leaves ", code)) }

// texts is a frame of texts, a push with RESP3.
func texts(head byte, all ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%c%d\r\n", head, len(all))
	for _, s := range all {
		if strings.HasPrefix(s, ":") {
			b.WriteString(s + "\r\n")
			continue
		}
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(s), s)
	}
	return b.String()
}

const standing = "*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n*3\r\n$10\r\npsubscribe\r\n$5\r\nlog.*\r\n:2\r\n"

// play gives the bytes to a connection, cut as cut says, and tells what it reports and how it ends.
func play(said string, leave bool, cut func(n int) int) string {
	c := pubsub.New(pubsub.NewNames([]string{"news"}, []string{"log.*"}, nil), 1000)
	h := &heard{c: c}
	sent := uint64(0)
	c.Subscribe(&sent)
	c.Sent(len(c.Output()))
	if leave {
		c.Unsubscribe()
		c.Sent(len(c.Output()))
	}
	var err error
	for said != "" && err == nil {
		n := cut(len(said))
		err = c.Feed([]byte(said[:n]), h)
		said = said[n:]
	}
	if err == nil {
		err = c.End(io.EOF)
	}
	return fmt.Sprintf("%s; %v; sent %d", strings.Join(h.lines, ", "), err, sent)
}

func whole(n int) int { return n }

// What a server says means this, and nothing else.
func TestSubscriptionsHear(t *testing.T) {
	for name, tt := range map[string]struct {
		said  string
		leave bool
		want  string
	}{
		"messages":       {said: standing + texts('*', "message", "news", "hi") + texts('>', "pmessage", "log.*", "log.x", "\xff"), want: `stands, 0 news| "hi", 1 log.x|log.* "\xff"; closed`},
		"in RESP3":       {said: strings.ReplaceAll(standing, "*3", ">3") + "$1\r\n7\r\n" + texts('*', "pong", "8"), want: "stands, pong 7, pong 8; closed"},
		"half of it":     {said: texts('*', "subscribe", "news", ":1"), want: "; closed"},
		"an end":         {said: standing + texts('*', "message", "news", "last") + texts('*', "unsubscribe", "news", ":1") + texts('*', "punsubscribe", "log.*", ":0"), leave: true, want: `stands, 0 news| "last", leaves 1000; <nil>; sent 4`},
		"another push":   {said: standing + "|1\r\n+a\r\n:1\r\n>2\r\n+invalidate\r\n*1\r\n+k\r\n" + texts('>', "message", "news", ""), want: `stands, 0 news| ""; closed`},
		"refused":        {said: "-NOPERM this user has no permissions\r\n", want: "; server NOPERM: SUBSCRIBE: NOPERM"},
		"out of turn":    {said: texts('*', "psubscribe", "log.*", ":1"), want: "; protocol"},
		"another name":   {said: texts('*', "subscribe", "other", ":1"), want: "; protocol"},
		"another's":      {said: standing + texts('*', "message", "other", "x"), want: "stands; protocol: the server sent a message of \"other\""},
		"no pattern":     {said: standing + texts('*', "pmessage", "news", "news", "x"), want: "stands; protocol"},
		"no text":        {said: standing + texts('*', "message", "news", ":7"), want: "stands; protocol"},
		"too many parts": {said: standing + texts('*', "message", "news", "x", "y"), want: "stands; protocol"},
		"many parts":     {said: standing + texts('>', "message", "news", "x", "y", "z"), want: "stands; protocol"},
		"a list in it":   {said: standing + ">3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n*0\r\n", want: "stands; protocol"},
		"null":           {said: standing + ">3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$-1\r\n", want: "stands; protocol"},
		"an end unasked": {said: standing + texts('>', "sunsubscribe", "news", ":0"), want: "stands; server UNSUBSCRIBED"},
		"an answer":      {said: standing + ":1\r\n", want: "stands; protocol"},
		"a list":         {said: standing + "*1\r\n:1\r\n", want: "stands; protocol"},
		"HTTP":           {said: "HTTP/1.1 400 Bad Request\r\n", want: "; protocol: the server sent 'H'"},
		"large":          {said: standing + "*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$2147483647\r\n", want: "stands; too_large"},
		"many":           {said: standing + "*2147483647\r\n", want: "stands; too_large"},
		"a long line":    {said: standing + "-" + strings.Repeat("x", 9000), want: "stands; too_large"},
		"no length":      {said: standing + "$-2\r\n", want: "stands; protocol"},
		"streamed":       {said: standing + "*?\r\n", want: "stands; protocol"},
		"no CR":          {said: standing + "+OK\n", want: "stands; protocol"},
		"a wrong end":    {said: standing + "*1\r\n$1\r\nabc", want: "stands; protocol"},
		"cut":            {said: standing + "*3\r\n$7\r\nmess", want: "stands; truncated"},
		"a flood":        {said: standing + strings.Repeat(">1\r\n+x\r\n", 1025), want: "stands; flood"},
		"pongs for ever": {said: standing + strings.Repeat("*2\r\n+pong\r\n+1\r\n", 1025), want: "stands, pong 1"},
	} {
		t.Run(name, func(t *testing.T) {
			got := play(tt.said, tt.leave, whole)
			if !strings.HasPrefix(got, tt.want) || name == "pongs for ever" && !strings.Contains(got, "; flood") {
				t.Errorf("got %.300s, want %s", got, tt.want)
			}
			if cut := play(tt.said, tt.leave, func(int) int { return 1 }); cut != got {
				t.Errorf("byte by byte: %.300s, at once: %.300s", cut, got)
			}
		})
	}
}

// PUBSUB-1: however bytes are cut, the outcome is the same.
func TestCutsOfASubscription(t *testing.T) {
	pieces := []string{texts('*', "message", "news", "hi"), texts('>', "pmessage", "log.*", "log.x", "\r\n$"), texts('*', "pong", "3"), "|1\r\n+a\r\n*1\r\n+b\r\n", ">1\r\n%1\r\n+a\r\n~1\r\n:1\r\n", "$-1\r\n", "+x\r\n", "*", "\r\n", "$3\r\nabc", texts('*', "unsubscribe", "news", ":1"), texts('*', "punsubscribe", "log.*", ":1")}
	rapid.Check(t, func(t *rapid.T) {
		said := standing + strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "said"), "")
		leave := rapid.Bool().Draw(t, "leave")
		once := play(said, leave, whole)
		if cut := play(said, leave, func(n int) int { return rapid.IntRange(1, n).Draw(t, "cut") }); cut != once {
			t.Fatalf("cut: %s\nat once: %s", cut, once)
		}
	})
}

// PUBSUB-2 and PUBSUB-5: nothing panics, and commands count when the kernel has them.
func FuzzSubscription(f *testing.F) {
	f.Add(standing+texts('*', "message", "news", "hi"), uint8(3))
	f.Add("|1\r\n+a\r\n-ERR x\r\n!1\r\nx\r\n", uint8(1))
	f.Fuzz(func(t *testing.T, said string, size uint8) {
		once := play(said, true, whole)
		if cut := play(said, true, func(n int) int { return min(n, int(size)+1) }); cut != once {
			t.Errorf("cut: %s\nat once: %s", cut, once)
		}
	})
}

// PUBSUB-5, and what is no business of a subscription.
func TestCommandsOfASubscription(t *testing.T) {
	c := pubsub.New(pubsub.NewNames([]string{"a", "b"}, nil, []string{"s"}), 0)
	sent := uint64(0)
	c.Subscribe(&sent)
	const want = "*3\r\n$9\r\nSUBSCRIBE\r\n$1\r\na\r\n$1\r\nb\r\n*2\r\n$10\r\nSSUBSCRIBE\r\n$1\r\ns\r\n"
	if got := string(c.Output()); got != want {
		t.Errorf("%q", got)
	}
	second := uint64(strings.LastIndex(want, "*"))
	for i := range uint64(len(want)) {
		c.Sent(1)
		if counts := (i+1)/second + (i+1)/uint64(len(want)); sent != counts {
			t.Errorf("behind %d of %d bytes %d count, want %d", i+1, len(want), sent, counts)
		}
	}
	c.Ping(7)
	c.Unsubscribe()
	c.Unsubscribe()
	c.Ping(8)
	if got := string(c.Output()); got != "*2\r\n$4\r\nPING\r\n$1\r\n7\r\n*1\r\n$11\r\nUNSUBSCRIBE\r\n*1\r\n$12\r\nSUNSUBSCRIBE\r\n" || c.Unsent() != len(got) {
		t.Errorf("%q", got)
	}
	if c.Sent(c.Unsent()); sent != 5 || c.Over() {
		t.Errorf("sent %d, over %v", sent, c.Over())
	}
	if err := c.Send(codec.MessageText, nil, nil); http1.KindOf(err) != http1.KindValue {
		t.Error(err)
	}
	if err := c.End(errors.New("reset")); err == nil || err.Error() != "reset" {
		t.Error(err)
	}
	if c.Leave(1000, ""); !c.Over() {
		t.Error("it is not over")
	}
}
