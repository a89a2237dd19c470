package datagram_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/datagram"
	"hyperscale/runtime/protocol/http1"
)

// ear keeps what an exchange hears.
type ear struct{ heard [][]byte }

func (e *ear) Message(_ codec.MessageKind, b []byte) { e.heard = append(e.heard, bytes.Clone(b)) }
func (e *ear) Pong(uint64)                           {}
func (e *ear) Leaves(uint16, string)                 {}

// model is what an exchange should hear and count, written anew: it asks nothing of the codec.
type model struct {
	want   datagram.Want
	key    string
	counts datagram.Counts
	heard  []string
	late   bool
}

func (m *model) feed(b string) {
	at, n := m.want.Match.At, m.want.Match.Count
	fits := n == 0 || len(b) >= at+n && b[at:at+n] == m.key
	switch {
	case fits && m.late:
		m.counts.Late++
	case fits && m.want.Answers > 0:
		m.want.Answers--
		m.heard = append(m.heard, b)
	default:
		m.counts.Stray++
	}
}

// DATAGRAM-1, DATAGRAM-2 and DATAGRAM-3: each datagram is heard or counted, once.
func TestEachDatagramCountsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("ab")), 0, 4, -1)
		c, on := datagram.New(0), &ear{}
		var counts datagram.Counts
		var sent uint64
		m := &model{}
		fed, exchanges := 0, uint64(0)
		for range rapid.IntRange(1, 5).Draw(t, "exchanges") {
			w := datagram.Want{Answers: rapid.IntRange(0, 3).Draw(t, "answers")}
			if w.Answers > 0 && rapid.Bool().Draw(t, "matches") {
				w.Match = datagram.Match{Count: rapid.IntRange(1, 2).Draw(t, "count"), At: rapid.IntRange(0, 1).Draw(t, "at"), SentAt: rapid.IntRange(0, 1).Draw(t, "sent at")}
			}
			question := text.Draw(t, "question") + "bab"
			c.Expect(w, &counts)
			if err := c.Send(codec.MessageBinary, []byte(question), &sent); err != nil {
				t.Fatal(err)
			}
			if got := string(c.Output()); got != question || c.Unsent() != len(question) {
				t.Fatalf("%q goes out, want %q", got, question)
			}
			c.Sent(len(question))
			exchanges++
			if len(c.Output()) != 0 || sent != exchanges {
				t.Fatalf("%d sent of %d", sent, exchanges)
			}
			m.want, m.late, m.key = w, false, question[w.Match.SentAt:w.Match.SentAt+w.Match.Count]
			feed := func() {
				for range rapid.IntRange(0, 4).Draw(t, "datagrams") {
					b := text.Draw(t, "datagram")
					m.feed(b)
					if err := c.Feed([]byte(b), on); err != nil {
						t.Fatal(err)
					}
					fed++
				}
			}
			feed()
			if rapid.Bool().Draw(t, "gives up") {
				m.counts.Lost += uint64(m.want.Answers)
				m.want.Answers, m.late = 0, true
				c.GiveUp()
				feed()
			}
		}
		if counts != m.counts || len(on.heard) != len(m.heard) {
			t.Fatalf("got %+v and heard %q, want %+v and %q", counts, on.heard, m.counts, m.heard)
		}
		for i, b := range on.heard {
			if string(b) != m.heard[i] {
				t.Fatalf("heard %q, want %q", on.heard, m.heard)
			}
		}
		if n := uint64(len(on.heard)) + counts.Late + counts.Stray; n != uint64(fed) {
			t.Fatalf("%d datagrams are accounted for, %d came", n, fed)
		}
	})
}

// DATAGRAM-4, and limits: what cannot be sent, or is too long to keep, is an error with a remedy.
func TestLimits(t *testing.T) {
	var counts datagram.Counts
	var sent uint64
	for _, tt := range []struct {
		send  string
		match datagram.Match
		want  string
	}{
		{"", datagram.Match{}, "is empty: send 1 to 65507 bytes"},
		{strings.Repeat("x", datagram.SizeMax), datagram.Match{}, ""},
		{strings.Repeat("x", datagram.SizeMax+1), datagram.Match{}, "send less, or use tcp.exchange"},
		{"ab", datagram.Match{Count: 2, SentAt: 1}, "send more, or match fewer"},
		{"ab", datagram.Match{Count: 2}, ""},
	} {
		c := datagram.New(0)
		c.Expect(datagram.Want{Answers: 1, Match: tt.match}, &counts)
		err := c.Send(codec.MessageBinary, []byte(tt.send), &sent)
		if (err == nil) != (tt.want == "") || err != nil && (!strings.Contains(err.Error(), tt.want) || http1.KindOf(err) != http1.KindValue) {
			t.Errorf("%d bytes: got %v, want %q", len(tt.send), err, tt.want)
		}
		if err != nil && len(c.Output()) > 0 {
			t.Errorf("%d bytes are sent nevertheless", len(tt.send))
		}
	}
	c, on := datagram.New(3), &ear{}
	c.Expect(datagram.Want{Answers: 2}, &counts)
	if err := c.Feed([]byte("abc"), on); err != nil {
		t.Error(err)
	}
	if err := c.Feed([]byte("abcd"), on); http1.KindOf(err) != http1.KindTooLarge || !strings.Contains(err.Error(), "raise max_body") {
		t.Errorf("got %v", err)
	}
	if err := c.Feed(nil, on); err != nil || len(on.heard) != 2 || len(on.heard[1]) != 0 {
		t.Errorf("an empty datagram: %v, %q", err, on.heard)
	}
	if err := c.End(io.EOF); err != nil || c.Over() {
		t.Error("a socket has ended without an error")
	}
}

// A datagram that the kernel has not taken counts as sent only when it has.
func TestTheKernelTakesADatagramWhole(t *testing.T) {
	var counts datagram.Counts
	var sent uint64
	c := datagram.New(0)
	c.Expect(datagram.Want{}, &counts)
	if err := c.Send(codec.MessageBinary, []byte("abc"), &sent); err != nil {
		t.Fatal(err)
	}
	if c.Sent(0); sent != 0 || string(c.Output()) != "abc" {
		t.Errorf("sent %d, %q is left", sent, c.Output())
	}
	if c.Sent(3); sent != 1 || c.Unsent() != 0 {
		t.Errorf("sent %d, %d bytes are left", sent, c.Unsent())
	}
}

// The kernel counts drops of a socket from its beginning, and wraps around.
func TestDropsCountOnce(t *testing.T) {
	var counts datagram.Counts
	c := datagram.New(0)
	c.Expect(datagram.Want{}, &counts)
	for _, all := range []uint32{0, 3, 3, 1<<32 - 1, 1} {
		c.Dropped(all)
	}
	c.Refused()
	if want := uint64(1<<32 + 1); counts.Dropped != want || counts.Refused != 1 {
		t.Errorf("got %+v, want %d", counts, want)
	}
}

// Whatever comes is heard or counted, and nothing keeps memory of it.
func FuzzFeed(f *testing.F) {
	f.Add([]byte("ab"), uint8(2), uint8(0), uint8(1), []byte("ab\x00\x02abc"))
	f.Add([]byte("question"), uint8(0), uint8(0), uint8(3), []byte{0, 0, 1, 'x'})
	f.Fuzz(func(t *testing.T, question []byte, count, at, answers uint8, stream []byte) {
		var counts datagram.Counts
		var sent uint64
		c, on := datagram.New(64), &ear{}
		c.Expect(datagram.Want{Answers: int(answers), Match: datagram.Match{Count: int(count), At: int(at)}}, &counts)
		if err := c.Send(codec.MessageBinary, question, &sent); err != nil {
			return
		}
		fed, refused := 0, 0
		for len(stream) > 0 { // a length, then a datagram
			n := min(int(stream[0]), len(stream)-1)
			b := stream[1 : 1+n]
			stream = stream[1+n:]
			if fed++; c.Feed(b, on) != nil {
				if refused++; len(b) <= 64 {
					t.Fatalf("%d bytes are refused", len(b))
				}
			}
		}
		if n := len(on.heard) + refused + int(counts.Stray+counts.Late); n != fed || len(on.heard) > int(answers) {
			t.Fatalf("%d of %d datagrams are accounted for, %d heard of %d", n, fed, len(on.heard), answers)
		}
		for _, b := range on.heard {
			if i := int(at); !bytes.HasPrefix(b[min(i, len(b)):], question[:count]) {
				t.Fatalf("%q answers %q", b, question)
			}
		}
	})
}
