package election

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// asked is a voter that last heard its leader long ago, and reports what it grants.
func asked(t *rapid.T) (g *group, i int, ask func(from int, term uint64, handed, pre bool) bool) {
	g = newGroup(t, 3)
	g.settle(5 * time.Second)
	a, _, _ := g.toys[0].Leader()
	i = (int(a[1]-'1') + rapid.IntRange(1, 2).Draw(t, "voter")) % 3
	for k := range g.toys {
		g.cut[[2]int{k, i}] = true
	}
	g.advance(3*time.Second, nil)
	granted := false
	x := g.toys[i]
	x.post = func(_ node.Addr, m node.Message) {
		if v, ok := m.(*message.VoteAnswer); ok {
			granted = v.Granted
		}
	}
	nonce := uint64(0)
	return g, i, func(from int, term uint64, handed, pre bool) bool {
		nonce++
		granted = false
		g.envs[i].ReceiveDatagram(peer((i+from)%3+1), &message.VoteAsk{Group: x.config.Group, Term: term, Nonce: nonce, Handed: handed, Pre: pre})
		return granted
	}
}

// A vote counts as a sign of the leader: without any beat, the voter helps no other candidate
// while the one that it voted for may lead.
func TestAVoteIsAWordForItsLeader(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, i, ask := asked(t)
		x := g.toys[i]
		term := x.Term() + 1
		if !ask(1, term, false, false) {
			t.Fatal("it votes for nobody: this test looks away")
		}
		pre := rapid.Bool().Draw(t, "pre")
		g.advance(time.Duration(rapid.Int64Range(0, int64(x.config.TimeoutMin)-int64(10*time.Millisecond)).Draw(t, "wait")), nil)
		if ask(2, term+1, false, pre) {
			t.Fatal("it votes for another while the one that it voted for may lead")
		}
		g.advance(x.config.TimeoutMin, nil)
		if !ask(2, term+1, false, pre) {
			t.Fatal("it votes for nobody after its leader's time")
		}
	})
}

// A vote belongs to its term: a voter that learns of a higher one may vote in it.
func TestAHigherTermFreesTheVote(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, i, ask := asked(t)
		term := g.toys[i].Term() + 1
		if !ask(1, term, false, false) {
			t.Fatal("it votes for nobody: this test looks away")
		}
		higher := term + rapid.Uint64Range(1, 3).Draw(t, "higher")
		g.envs[i].ReceiveDatagram(peer((i+2)%3+1), &message.VoteAnswer{Group: g.toys[i].config.Group, Nonce: 1, Term: higher})
		if !ask(2, higher, true, false) {
			t.Fatalf("its vote of term %d is spent in term %d", term, higher)
		}
	})
}

// A blank voter has answers of the founder and of another voter from before the recovery, and of two others from
// after it. It stays blank: the founder has not admitted its disk, and would admit another one
// in its name.
func TestAnswersOfAnOlderEpochAdmitNobody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := &recoveries{group: newGroup(t, 5), n: 5}
		r.settle(5 * time.Second)
		order := rapid.Permutation([]int{0, 1, 2, 3, 4}).Draw(t, "order")
		founder, older, blank, others := order[0], order[1], order[2], order[3:]
		r.founder = founder
		for _, other := range others {
			r.cut[[2]int{other, blank}] = true
		}
		r.restart(blank, "lost")
		r.tell(blank)
		r.advance(time.Duration(rapid.IntRange(5000, 8000).Draw(t, "ms"))*time.Millisecond, nil)
		x := r.toys[blank]
		if _, answered := x.round.joined[addr(founder+1)]; !answered || !x.blank() || !x.round.counts {
			t.Fatalf("before the recovery: blank %v, answers %v: this test looks away", x.blank(), x.round.joined)
		}
		for _, i := range []int{founder, older} {
			r.cut[[2]int{i, blank}], r.cut[[2]int{blank, i}] = true, true
		}
		for _, other := range others {
			r.restart(other, "lost")
		}
		r.restart(founder, "")
		r.epoch++
		r.tell(founder)
		r.tell(older)
		for _, other := range others {
			r.tell(other)
		}
		r.advance(10*time.Second, nil)
		for _, other := range others {
			if r.toys[other].blank() {
				t.Fatal("the founder admits no voter: this test looks away")
			}
		}
		r.tell(blank)
		for _, other := range others {
			delete(r.cut, [2]int{other, blank})
		}
		r.advance(10*time.Second, nil)
		if !x.blank() {
			t.Fatal("a voter votes in an epoch to which its founder has not admitted it")
		}
		r.settled()
	})
}
