package linear

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// model is a register in memory, correct or with one planted bug, and the nodes that call it.
// An operation takes effect at one moment between its call and its return. That of a crashed
// node may do so at any later time, or never.
type model struct {
	draw  func(n int) int // 0 to n-1
	bug   string
	p     *Partition[Register, RegisterOp]
	seq   uint64
	s     Register
	past  []Register
	value uint64
	epoch uint64

	busy    [3]*running
	held    [3]message.LeaseToken
	zombies []RegisterOp
}

// running is the operation that a node has open.
type running struct {
	index   int
	op      RegisterOp
	done    bool
	refused bool
}

func newModel(bug string, draw func(n int) int) *model {
	return &model{draw: draw, bug: bug, p: NewPartition(LeaseRegister(), "gates/J")}
}

func (m *model) at(n int) Where {
	return Where{At: time.Duration(m.seq) * time.Second, Node: node.ID(fmt.Sprint("g", n+1)), Incarnation: 1}
}

func (m *model) step() {
	m.seq++
	n := m.draw(3)
	switch x := m.busy[n]; {
	case m.draw(20) == 0 && len(m.zombies) > 0:
		z := m.zombies[0]
		m.zombies = m.zombies[1:]
		m.effect(n, &z)
	case x == nil:
		m.call(n)
	case m.draw(25) == 0: // crash
		m.p.Abandon(x.index)
		if !x.done {
			m.zombies = append(m.zombies, x.op)
		}
		m.busy[n], m.held[n] = nil, message.LeaseToken{}
	case !x.done:
		x.refused, x.done = !m.effect(n, &x.op), true
	default:
		m.end(n, x)
	}
}

func (m *model) call(n int) {
	op := RegisterOp{What: [...]string{"acquire", "update", "update", "read", "read-held", "release"}[m.draw(6)]}
	switch op.What {
	case "update", "release":
		if m.held[n].Zero() {
			op.What = "acquire"
			break
		}
		op.Token = m.held[n]
		m.value++
		op.Value = m.value
	}
	if op.What == "acquire" {
		m.epoch++
		op.Token, op.Seed = message.LeaseToken{Epoch: m.epoch, Ordinal: uint32(n + 1)}, uint64(m.draw(2))+1000
	}
	m.busy[n] = &running{index: m.p.Call(m.seq, m.at(n), op), op: op}
}

// effect applies an operation and fills in its result; false: it had no effect.
func (m *model) effect(n int, o *RegisterOp) bool {
	if len(m.past) == 0 || m.past[len(m.past)-1] != m.s {
		m.past = append(m.past, m.s)
	}
	switch o.What {
	case "acquire":
		if m.bug == "granted twice" && m.draw(3) == 0 && !m.s.Token.Zero() {
			o.Token, o.Value = m.s.Token, m.s.Value
			return true
		}
		if !m.s.Token.Less(o.Token) {
			return false
		}
		if m.s.Token.Zero() {
			m.s.Value = o.Seed
		}
		if m.bug == "adopts an older record" && m.draw(5) == 0 {
			m.s.Value = m.past[m.draw(len(m.past))].Value
		}
		m.s.Token, m.s.Released = o.Token, false
		o.Value = m.s.Value
	case "update", "release":
		if m.bug == "lost update" && m.draw(5) == 0 && o.Token == m.s.Token && !m.s.Released {
			return true
		}
		if old := m.bug == "update under an old token" && o.What == "update"; (o.Token != m.s.Token || m.s.Released) && !old {
			return false
		}
		if o.What == "update" {
			m.s.Value = o.Value
		} else {
			m.s.Released = true
		}
	default:
		s := m.s
		if m.bug == "stale read" && m.draw(3) == 0 {
			s = m.past[m.draw(len(m.past))]
		}
		o.Token, o.Value = s.Token, s.Value
	}
	return true
}

func (m *model) end(n int, x *running) {
	m.busy[n] = nil
	switch {
	case x.refused:
		m.p.Drop(x.index)
		m.held[n] = message.LeaseToken{}
		return
	case x.op.What == "acquire":
		m.held[n] = x.op.Token
	case x.op.What == "release":
		m.held[n] = message.LeaseToken{}
	}
	m.p.Return(x.index, m.seq, m.at(n), x.op)
}

func play(bug string, steps int, draw func(n int) int) *Partition[Register, RegisterOp] {
	m := newModel(bug, draw)
	for range steps {
		m.step()
	}
	return m.p
}

func dice(seed uint64) func(n int) int {
	r := node.NewRand(seed, "linear", node.PurposeFault)
	return func(n int) int { return int(r.Uint64() % uint64(n)) }
}

// A correct register is accepted for any schedule; histories of hundreds of operations are cut
// on the way.
func TestRightRegisterIsAccepted(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := play("", rapid.IntRange(0, 300).Draw(rt, "steps"), func(n int) int { return rapid.IntRange(0, n-1).Draw(rt, "") })
		if p.Finish(); p.Failure() != nil {
			rt.Fatalf("%+v", *p.Failure())
		}
	})
	for seed := range uint64(20) {
		p := play("", 20_000, dice(seed))
		if p.Finish(); p.Failure() != nil {
			t.Fatalf("seed %d: %+v", seed, *p.Failure())
		}
		if len(p.ops) > 10 {
			t.Fatalf("seed %d: %d operations are kept at the end: it was never cut", seed, len(p.ops))
		}
	}
}

// Each planted bug is found as a violation, not as something undecided.
func TestWrongRegisterIsRejected(t *testing.T) {
	for _, bug := range []string{"stale read", "lost update", "update under an old token", "granted twice", "adopts an older record"} {
		t.Run(bug, func(t *testing.T) {
			found := 0
			for seed := range uint64(50) {
				p := play(bug, 400, dice(seed))
				p.Finish()
				if f := p.Failure(); f != nil && f.Undecided {
					t.Fatalf("seed %d: %s", seed, f.Detail)
				} else if f != nil {
					found++
				}
			}
			if found == 0 {
				t.Fatal("no run shows it")
			}
			t.Logf("%d of 50 runs", found)
		})
	}
}

// The sweep and porcupine agree on short histories, correct and wrong ones.
func TestSweepAgreesWithPorcupine(t *testing.T) {
	bugs := []string{"", "stale read", "lost update", "update under an old token", "granted twice", "adopts an older record"}
	var accepted, rejected int
	for seed := range uint64(4000) {
		p := play(bugs[seed%6], 60, dice(seed))
		for i := range p.ops {
			if p.ops[i].fate == pending {
				p.Abandon(i)
			}
		}
		h, _ := history(p.ops, p.taken(p.start[0]))
		want := porcupine.CheckOperations(p.model.porcupine(p.model.Init), h)
		p.Finish()
		if got := p.Failure() == nil; got != want {
			t.Fatalf("seed %d: the sweep says %v, porcupine %v", seed, got, want)
		}
		if want {
			accepted++
		} else {
			rejected++
		}
	}
	if accepted < 1000 || rejected < 300 {
		t.Fatalf("%d accepted and %d rejected histories: too few of one of them to compare", accepted, rejected)
	}
}

// A cut loses nothing: the verdict on a history is the same with and without cuts.
func TestCutsChangeNothing(t *testing.T) {
	bugs := []string{"", "stale read", "lost update", "update under an old token", "granted twice", "adopts an older record"}
	for seed := range uint64(300) {
		bug := bugs[seed%6]
		cut := play(bug, 1500, dice(seed))
		cut.Finish()
		whole := newModel(bug, dice(seed))
		whole.p.open = 1 // as if one were open from the beginning: the window is never cut
		for range 1500 {
			whole.step()
		}
		whole.p.open--
		if whole.p.Finish(); (whole.p.Failure() == nil) != (cut.Failure() == nil) {
			t.Fatalf("seed %d, %q: cut %+v, whole %+v", seed, bug, cut.Failure(), whole.p.Failure())
		}
	}
}

func update(n uint64) RegisterOp {
	return RegisterOp{What: "update", Token: message.LeaseToken{Epoch: 1, Ordinal: 1}, Value: n}
}

func granted() *Partition[Register, RegisterOp] {
	p := NewPartition(LeaseRegister(), "gates/J")
	p.Point(1, Where{Node: "g1"}, RegisterOp{What: "acquire", Token: update(0).Token, Value: 1, Seed: 1})
	return p
}

// A history that exceeds a bound is undecided, never accepted.
func TestBoundsAreUndecided(t *testing.T) {
	for _, tc := range []struct {
		name, want string
		play       func(p *Partition[Register, RegisterOp])
	}{
		{"too many open", "open at once", func(p *Partition[Register, RegisterOp]) {
			for i := range uint64(openMax + 1) {
				p.Call(2+i, Where{}, update(10+i))
			}
		}},
		{"too many orders", "orders are possible", func(p *Partition[Register, RegisterOp]) {
			for i := range uint64(20) {
				p.Call(2+i, Where{}, update(10+i))
			}
			p.Point(50, Where{}, RegisterOp{What: "read", Token: update(0).Token, Value: 9})
		}},
		{"never quiet", "without a quiet moment", func(p *Partition[Register, RegisterOp]) {
			p.Call(2, Where{}, update(10))
			for i := range uint64(windowMax) {
				p.Point(3+i, Where{}, RegisterOp{What: "read", Token: update(0).Token, Value: 1})
			}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := granted()
			tc.play(p)
			p.Finish()
			f := p.Failure()
			if f == nil || !f.Undecided || !strings.Contains(f.Detail, tc.want) {
				t.Fatalf("got %+v, want it undecided: %s", f, tc.want)
			}
		})
	}
}

// The partition carries updates that crashed nodes left open while they may take effect. It
// drops them once a higher token has passed them.
func TestAbandonedUpdatesAreCarried(t *testing.T) {
	p := granted()
	seq := uint64(2)
	fill := func(value uint64, token message.LeaseToken) {
		for range cutAt {
			seq++
			p.Point(seq, Where{}, RegisterOp{What: "read", Token: token, Value: value})
		}
	}
	p.Abandon(p.Call(seq, Where{Node: "g1"}, update(7)))
	if fill(1, update(0).Token); p.carried != 1 {
		t.Fatalf("%d operations are carried, want the update", p.carried)
	}
	if fill(7, update(0).Token); p.carried != 0 || p.Failure() != nil {
		t.Fatalf("it has taken effect: %d are carried, %+v", p.carried, p.Failure())
	}
	p.Abandon(p.Call(seq, Where{Node: "g1"}, update(8)))
	next := message.LeaseToken{Epoch: 2, Ordinal: 2}
	seq++
	p.Point(seq, Where{Node: "g2"}, RegisterOp{What: "acquire", Token: next, Value: 7})
	if fill(7, next); p.carried != 0 || p.Failure() != nil {
		t.Fatalf("it never can: %d are carried, %+v", p.carried, p.Failure())
	}
	seq++
	p.Point(seq, Where{Node: "g3"}, RegisterOp{What: "read", Token: next, Value: 8})
	if p.Finish(); p.Failure() == nil || p.Failure().Undecided {
		t.Fatalf("it did nevertheless: got %+v", p.Failure())
	}
}

func TestExplainNamesWhatFitsNowhere(t *testing.T) {
	p := granted()
	read := p.Call(2, Where{Node: "g3"}, RegisterOp{What: "read"})
	p.Point(3, Where{At: time.Second, Node: "g1"}, update(11))
	p.Return(read, 4, Where{At: time.Second, Node: "g3"}, RegisterOp{What: "read", Token: update(0).Token, Value: 99})
	p.Finish()
	text, page := p.Explain()
	for _, want := range []string{"read() -> 63 under 1/1 by g3", "X g3/0", "> g1/0", "update(b under 1/1)", "never granted"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text does not say %q:\n%s", want, text)
		}
	}
	for _, want := range []string{"<html", "read() -\\u003e 63"} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("the page does not hold %q", want)
		}
	}
}

// BenchmarkWindow judges windows of 200 operations, of which some overlap.
func BenchmarkWindow(b *testing.B) {
	for _, steps := range []int{600, 6000} {
		b.Run(fmt.Sprint(steps/3, "-operations"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p := play("", steps, dice(1))
				if p.Finish(); p.Failure() != nil {
					b.Fatal(p.Failure().Detail)
				}
			}
		})
	}
	b.Run("porcupine-200", func(b *testing.B) {
		m := newModel("", dice(1))
		m.p.open = 1
		for len(m.p.ops) < 200 {
			m.step()
		}
		for i := range m.p.ops {
			if m.p.ops[i].fate == pending {
				m.p.Abandon(i)
			}
		}
		h, _ := history(m.p.ops, m.p.taken(m.p.start[0]))
		pm := m.p.model.porcupine(m.p.model.Init)
		b.ReportAllocs()
		for b.Loop() {
			if !porcupine.CheckOperations(pm, h) {
				b.Fatal("refused")
			}
		}
	})
}
