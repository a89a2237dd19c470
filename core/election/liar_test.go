package election

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
)

// listener is voter 1 of three. Voter 2 lies to it, voter 3 is honest.
func listener(named *int) (*nodetest.Env, *toy) {
	e := world(1, 3, 7, nil)
	e.Discard = true
	e.WatchEvent = func(v node.Event) {
		if v, ok := v.(event.Implausible); ok && v.What == "term" {
			*named++
		}
	}
	e.Start()
	x := e.Machine().(*toy)
	x.post = func(node.Addr, node.Message) {}
	return e, x
}

// forgedTerms are all messages that raise a term.
func forgedTerms(term uint64) []node.Message {
	return []node.Message{
		&message.VoteAsk{Group: "gates", Term: term, Nonce: 1, Handed: true}, &message.VoteAnswer{Group: "gates", Term: term, Nonce: 1},
		&message.LeaderBeat{Group: "gates", Term: term, Counter: 1}, &message.LeaderBeatAck{Group: "gates", Term: term, Counter: 1},
	}
}

// elected lets voter 3 vote for voter 1, and reports whether that leads.
func elected(e *nodetest.Env, x *toy) bool {
	var asked *message.VoteAsk
	x.post = func(to node.Addr, m node.Message) {
		if ask, ok := m.(*message.VoteAsk); ok && to == addr(3) {
			asked = ask
		}
	}
	for range 1000 {
		e.Advance(10 * time.Millisecond)
		if asked != nil {
			e.ReceiveDatagram(peer(3), &message.VoteAnswer{Group: "gates", Nonce: asked.Nonce, Granted: true, Term: x.term})
			asked = nil
		}
		if x.role == leader {
			return true
		}
	}
	return false
}

// No number of messages of one voter uses up the terms of another one.
func TestOneVotersWordUsesUpNoTerms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		named := 0
		e, x := listener(&named)
		x.joinAs(e)
		times, reached := rapid.IntRange(1, 2000).Draw(t, "times"), false
		for range times {
			above := rapid.SampledFrom([]uint64{1, termSlack, termSlack + 1000, 1<<32 - 1 - x.term, 1 << 33, termMax - 1 - x.term}).Draw(t, "above")
			m := rapid.SampledFrom(forgedTerms(x.term+above)).Draw(t, "message")
			e.ReceiveDatagram(peer(2), m)
			reached = reached || above > termSlack+1000-1
		}
		if x.term > 2*termSlack || reached && named == 0 && times > 100 {
			t.Fatalf("the term is %d, and voter 2 was named %d times", x.term, named)
		}
		if !elected(e, x) {
			t.Fatalf("voter 1 does not lead with the vote of voter 3, in term %d", x.term)
		}
	})
}

// A voter that missed more elections than it believes one other voter learns their term from a majority.
func TestAMajoritySaysTheTerm(t *testing.T) {
	named := 0
	e, x := listener(&named)
	x.joinAs(e)
	const far = 1 << 30
	e.ReceiveDatagram(peer(2), &message.LeaderBeat{Group: "gates", Term: far + 5, Counter: 1})
	if x.term >= far || named != 1 {
		t.Fatalf("voter 2 alone raises the term to %d, and was named %d times", x.term, named)
	}
	e.ReceiveDatagram(peer(3), &message.VoteAnswer{Group: "gates", Term: far, Nonce: 1})
	if x.term != far {
		t.Fatalf("two of three say %d, and the term is %d", far, x.term)
	}
	e.ReceiveDatagram(peer(2), &message.LeaderBeat{Group: "gates", Term: far + 5, Counter: 2})
	if a, term, known := x.Leader(); !known || a != addr(2) || term != far+5 {
		t.Fatalf("it follows %q in term %d", a, term)
	}
}

// A voter without a disk takes no term that only one voter remembers, far above all others.
func TestABlankVoterTakesNoFarTerm(t *testing.T) {
	named := 0
	e, x := listener(&named)
	answer := func(from int, term uint64) {
		e.ReceiveDatagram(peer(from), &message.VoterJoined{Group: "gates", Nonce: x.round.nonce, Term: term})
	}
	e.Advance(4 * time.Second)
	answer(2, 1<<31)
	answer(3, 6)
	e.Advance(time.Second)
	if !x.blank() || named == 0 {
		t.Fatalf("it joins in term %d, and voter 2 was named %d times", x.term, named)
	}
	answer(2, 5)
	answer(3, 6)
	e.Advance(time.Second)
	if x.blank() || x.term < 6 || x.term > 9 {
		t.Fatalf("it does not join, or in term %d", x.term)
	}
}

// joinAs makes the listener a voter of a new group.
func (t *toy) joinAs(e *nodetest.Env) {
	for i := 2; i <= 3; i++ {
		e.ReceiveDatagram(peer(i), &message.VoterJoined{Group: "gates", Nonce: t.round.nonce, Blank: true})
	}
	e.Advance(time.Second)
}
