package election

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// An election ignores a message of another group, of no voter, or of an impossible term, and
// continues as if it had never arrived. It does not take other messages.
func TestStrangersDecideNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := world(1, 3, rapid.Uint64().Draw(t, "seed"), nil)
		e.Discard = true
		ignored := 0
		e.WatchEvent = func(v node.Event) {
			if _, ok := v.(event.Ignored); ok {
				ignored++
			}
		}
		e.Start()
		x := e.Machine().(*toy)
		if x.Receive(e, peer(2), &message.Beat{Counter: 1}) {
			t.Fatal("a ping is of an election")
		}
		e.Advance(time.Duration(rapid.IntRange(0, 5000).Draw(t, "ms")) * time.Millisecond)
		for range rapid.IntRange(1, 12).Draw(t, "messages") {
			group, from, term := x.config.Group, peer(rapid.IntRange(2, 3).Draw(t, "from")), rapid.Uint64Range(1, 9).Draw(t, "term")
			switch rapid.IntRange(0, 2).Draw(t, "wrong") {
			case 0:
				group = "another"
			case 1:
				from = rapid.SampledFrom([]node.Peer{peer(1), peer(4), {ID: "x", Addr: "x:1"}}).Draw(t, "stranger")
			case 2:
				term = rapid.SampledFrom([]uint64{termMax, termMax + 1, 1<<64 - 1}).Draw(t, "far")
			}
			m := rapid.SampledFrom([]node.Message{
				&message.VoteAsk{Group: group, Term: term, Nonce: 1}, &message.VoteAsk{Group: group, Term: term, Nonce: 1, Pre: true}, &message.VoteAnswer{Group: group, Term: term, Nonce: 1, Granted: true},
				&message.LeaderBeat{Group: group, Term: term, Counter: 1}, &message.LeaderBeatAck{Group: group, Term: term, Counter: 1}, &message.LeaderHandOver{Group: group, Term: term},
			}).Draw(t, "message")
			before, was, seen := x.term, x.vote, ignored
			role, puts := x.role, len(x.puts)
			e.ReceiveDatagram(from, m)
			if ignored != seen+1 || x.term != before || x.vote != was || x.role != role || len(x.puts) != puts {
				t.Fatalf("%T of %s in term %d: ignored %d times, term %d and vote %q became %d and %q", m, from.ID, term, ignored-seen, before, was, x.term, x.vote)
			}
		}
	})
}

// An admission survives write and read. A record of another length admits no voter in any
// epoch, and equals no pass.
func TestAdmissionsThatCannotBeReadCountInEachEpoch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "value")
		epoch := rapid.Uint64Range(0, 1<<40).Draw(t, "epoch")
		a := admissionOf(value)
		if readable := len(value) == 16; a.saved != readable || !readable && (a.epoch < epoch || a.pass != 0) {
			t.Fatalf("%x is read as %+v", value, a)
		}
	})
}

// Distinct kinds of outcomes have distinct names, and other numbers none.
func TestOutcomesHaveDistinctNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.OneOf(rapid.Uint8Range(0, uint8(Follows)+1), rapid.Uint8())
		a, b := OutcomeKind(kind.Draw(t, "a")), OutcomeKind(kind.Draw(t, "b"))
		known := func(k OutcomeKind) bool { return k >= Led && k <= Follows }
		if known(a) != (a.String() != "none") || known(a) && known(b) && (a.String() == b.String()) != (a == b) {
			t.Fatalf("kinds %d and %d are %v and %v", a, b, a, b)
		}
	})
}
