package talk

import (
	"testing"

	"pgregory.net/rapid"

	"hyperscale/core/workflow/session"
	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/protocol/codec"
)

// nowhere is a dialogue without a connection.
type nowhere struct{ codec.Dialogue }

func (nowhere) Send(codec.MessageKind, []byte, *uint64) error { return nil }

// ear counts what a session tells.
type ear struct{ came int }

func (e *ear) Opened() {}
func (e *ear) Came()   { e.came++ }
func (e *ear) Took()   {}

// A message answers the oldest one sent that has no answer, and one that comes of its own accord counts
// from the opening. What comes is received once, in order.
func TestAMessageAnswersTheOldest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clock := measure.Clock{Now: 1000}
		stock := NewStock(&clock, nil)
		on := &ear{}
		account := measure.NewAccount(nil, nil, false, nil)
		s := stock.Open(Socket{}, on, &account, 0, false)
		if err := s.Say(nowhere{}); err != nil {
			t.Fatal(err)
		}
		var asked, want []int64 // instants, and the latencies of unread messages
		heard := 0
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			clock.Now += rapid.Int64Range(1, 1000).Draw(t, "pause")
			switch rapid.IntRange(0, 2).Draw(t, "what") {
			case 0:
				s.asked.add(clock.Now)
				asked = append(asked, clock.Now)
			case 1:
				s.Hear(codec.MessageText, []byte("m"))
				heard++
				since := int64(1000)
				if len(asked) > 0 {
					since, asked = asked[0], asked[1:]
				}
				want = append(want, clock.Now-since)
			case 2:
				m, ok := s.Take()
				if ok != (len(want) > 0) || ok && int64(m.Latency) != want[0] {
					t.Fatalf("took %v after %d, want %v", ok, m.Latency, want)
				}
				if ok {
					want = want[1:]
				}
			}
		}
		if on.came != heard {
			t.Fatalf("told of %d messages of %d", on.came, heard)
		}
	})
}

// An inbox is full at 256 messages or 1 MiB, and roomy again at half of that.
func TestAnInboxIsBounded(t *testing.T) {
	for _, size := range []int{0, 1, 8 << 10, 2 << 20} {
		var b Inbox
		n := 0
		for ; !b.Full(); n++ {
			b.Put(session.Message{Data: make([]byte, size)})
		}
		if want := min(256, max(1, 1<<20/max(size, 1))); n != want {
			t.Errorf("%d messages of %d bytes fill it, want %d", n, size, want)
		}
		for !b.Roomy() {
			b.Take()
			n--
		}
		if n > 128 || n*size > 1<<19 {
			t.Errorf("%d messages of %d bytes are left in a roomy one", n, size)
		}
		if b.Shut(); b.Full() || !b.Roomy() {
			t.Error("a closed one is full")
		}
	}
}
