package registers

import (
	"fmt"
	"slices"
	"time"

	"hyperscale/checker"
	"hyperscale/core/message"
	"hyperscale/core/message/toy"
	"hyperscale/core/node"
	"hyperscale/netsim"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// leaseStage is a world of registrars that do only what a script says, until everything heals.
// Then they act on their own, and all must work.
type leaseStage struct {
	*stage.Stage
	w      *registerWorld
	ids    []node.ID // the members; scripts say 0 for A, 1 for B, 2 for C
	length time.Duration
	job    message.JobID
	deeds  []func(env node.Env, m *registrar)
	waits  []*wait
	vacant bool // members acquire what has expired, as roles do
}

// wait holds back datagrams with certain content between certain members.
type wait struct {
	from, to int // indices of leaseStage.ids; anyone for all
	carries  carried
	over     bool
	copies   bool // the datagrams also arrive at once, and again when the wait ends
	kept     []sim.Letter
}

const anyone = -1

// carried are the kinds of content of a frame.
type carried uint16

const (
	prepares carried = 1 << iota
	promises
	refusals
	accepts
	accepteds
	queries
	answers
	consents
	joins      // hails and all requests of a member without its disk
	everything = carried(1<<iota - 1)
)

// newLeaseStage builds members whose clocks drift by at most so much, or by exactly so much in
// either direction. It draws the members into the script's order.
func newLeaseStage(s *stage.Stage, members int, length time.Duration, driftPPM int64) *leaseStage {
	return newLeaseStageOf(s, members, 1, length, driftPPM)
}

func newLeaseStageOf(s *stage.Stage, members, jobs int, length time.Duration, driftPPM int64) *leaseStage {
	p := &leaseStage{Stage: s, length: length}
	p.w = registrars(s, members, jobs, length, length/2, driftPPM)
	p.w.script = p
	p.job = p.w.jobs[0]
	p.ids = slices.Clone(p.w.members)
	s.Rand.Shuffle(len(p.ids), func(i, j int) { p.ids[i], p.ids[j] = p.ids[j], p.ids[i] })
	s.Draw("%d acceptors %v, leases of %v", members, p.ids, length)
	s.World.Engage(p.courier)
	s.World.At(s.Heal, p.heals)
	ownedAtTheEnd(s, p.w)
	return p
}

// quietLength draws leases that are long compared with everything else.
func quietLength(s *stage.Stage) time.Duration {
	return s.Rand.Duration(3*time.Second, 6*time.Second).Truncate(stage.Tick)
}

// quietNetwork puts all members in one rack: only held back messages are slow.
func quietNetwork() netsim.Config {
	c := netsim.Default()
	c.Far = c.Near
	return c
}

// founded is when all members have been members for a while.
const founded = 3 * time.Second

// heals ends everything that the script holds back.
func (p *leaseStage) heals() {
	for _, w := range p.waits {
		w.over, w.kept = true, nil
	}
	p.World.Engage(nil)
}

// lowFirst puts two of the script's members in the order of their ordinals, so that the second
// one's tokens are higher.
func (p *leaseStage) lowFirst(i, j int) {
	if p.ids[j] < p.ids[i] {
		p.ids[i], p.ids[j] = p.ids[j], p.ids[i]
	}
}

// do makes a member do something as soon as it is free; never if it is down.
func (p *leaseStage) do(i int, deed func(env node.Env, m *registrar)) {
	p.deeds = append(p.deeds, deed)
	p.World.Command(p.ids[i], &toy.Order{Job: p.job, Value: uint64(len(p.deeds) - 1)}, func(node.Message) {})
}

// step calls do at a time.
func (p *leaseStage) step(at time.Duration, i int, deed func(env node.Env, m *registrar)) {
	p.World.At(at, func() { p.do(i, deed) })
}

func (p *leaseStage) acquires(at time.Duration, i int) {
	p.step(at, i, func(env node.Env, m *registrar) { m.eager[p.job] = true; m.want(env, p.job) })
}

// givesUp ends a member's acquisition or tenure of the job.
func (p *leaseStage) givesUp(at time.Duration, i int) {
	p.step(at, i, func(env node.Env, m *registrar) {
		delete(m.eager, p.job)
		m.registers.Abandon(env, p.job)
		delete(m.wanted, p.job)
	})
}

func (p *leaseStage) updates(at time.Duration, i int) {
	p.step(at, i, func(env node.Env, m *registrar) {
		m.update(env, p.job)
	})
}

func (p *leaseStage) reads(at time.Duration, i int) {
	p.step(at, i, func(env node.Env, m *registrar) {
		m.tickets++
		m.registers.Read(env, p.job, m.tickets)
	})
}

func (p *leaseStage) releases(at time.Duration, i int) {
	p.step(at, i, func(env node.Env, m *registrar) { delete(m.eager, p.job); m.registers.Release(env, p.job) })
}

func (p *leaseStage) transfers(at time.Duration, i, to int) {
	p.step(at, i, func(env node.Env, m *registrar) {
		delete(m.eager, p.job)
		m.registers.Transfer(env, p.job, p.World.Addr(p.ids[to]))
	})
}

// orders makes a member give an order, if it holds the job.
func (p *leaseStage) orders(at time.Duration, i int) {
	p.step(at, i, func(env node.Env, m *registrar) {
		if token, holds := m.registers.Holds(env.Now(), p.job); holds {
			m.order(env, p.job, token)
		}
	})
}

// keep holds datagrams back from some time on.
func (p *leaseStage) keep(at time.Duration, from, to int, what carried) *wait {
	w := &wait{from: from, to: to, carries: what, over: at > 0}
	p.waits = append(p.waits, w)
	if at > 0 {
		p.World.At(at, func() { w.over = p.World.Now() >= p.Heal })
	}
	return w
}

// repeat delivers them at once, and again when the wait ends.
func (p *leaseStage) repeat(at time.Duration, from, to int, what carried) *wait {
	w := p.keep(at, from, to, what)
	w.copies = true
	return w
}

// cut loses all messages between two members from one time to another.
func (p *leaseStage) cut(from, until time.Duration, i, j int) {
	for _, w := range []*wait{p.keep(from, i, j, everything), p.keep(from, j, i, everything)} {
		p.World.At(until, func() { w.over, w.kept = true, nil })
	}
}

// comes ends a wait and delivers the held datagrams in order.
func (p *leaseStage) comes(at time.Duration, w *wait) {
	p.World.At(at, func() {
		if p.World.Now() >= p.Heal {
			return
		}
		w.over = true
		for i, l := range w.kept {
			p.World.Deliver(l, p.World.Now()+time.Duration(i)*time.Microsecond)
		}
		w.kept = nil
	})
}

// crash schedules a crash of one member of the script.
func (p *leaseStage) crash(at, length time.Duration, i int, aim string, diskless bool) {
	f := sim.Fault{At: at.Truncate(stage.Tick), For: length.Truncate(stage.Tick), Kind: sim.FaultCrash, Nodes: []string{string(p.ids[i])}, Aim: aim}
	if diskless {
		f.Value = 1
	}
	p.Fault(f)
}

// courier takes out of frames what the waits hold back.
func (p *leaseStage) courier(l sim.Letter) bool {
	from, to := slices.Index(p.ids, l.From), slices.Index(p.ids, l.To)
	if from < 0 || to < 0 {
		return false
	}
	what := carriedBy(l.Message)
	taken := false
	for _, w := range p.waits {
		if w.over || w.from != anyone && w.from != from || w.to != anyone && w.to != to || what&w.carries == 0 {
			continue
		}
		subjob, rest := split(l.Message, w.carries)
		w.kept = append(w.kept, sim.Letter(l))
		w.kept[len(w.kept)-1].Message = subjob
		if w.copies {
			continue
		}
		taken = true
		if rest == nil {
			return true
		}
		l.Message, what = rest, carriedBy(rest)
	}
	if taken {
		p.World.Deliver(l, p.World.Now()+200*time.Microsecond)
	}
	return taken
}

func carriedBy(m node.Message) (what carried) {
	f, ok := m.(*message.LeaseFrame)
	if !ok {
		return joins
	}
	for i, n := range []int{len(f.Prepares), len(f.Promises), len(f.Refusals), len(f.Accepts), len(f.Accepteds), len(f.Queries), len(f.Answers), len(f.Consents)} {
		if n > 0 {
			what |= 1 << i
		}
	}
	return what
}

// split takes some kinds of content out of a frame; rest is nil if nothing is left.
func split(m node.Message, what carried) (subjob, rest node.Message) {
	f, ok := m.(*message.LeaseFrame)
	if !ok || carriedBy(m)&^what == 0 {
		return m, nil
	}
	a, b := &message.LeaseFrame{Group: f.Group, Gens: f.Gens, Floor: f.Floor}, &message.LeaseFrame{Group: f.Group, Gens: f.Gens, Floor: f.Floor}
	pick := func(kind carried) *message.LeaseFrame {
		if kind&what != 0 {
			return a
		}
		return b
	}
	pick(prepares).Prepares = f.Prepares
	pick(promises).Promises = f.Promises
	pick(refusals).Refusals = f.Refusals
	pick(accepts).Accepts = f.Accepts
	pick(accepteds).Accepteds = f.Accepteds
	pick(queries).Queries = f.Queries
	pick(answers).Answers = f.Answers
	pick(consents).Consents = f.Consents
	return a, b
}

// violate reports a violation that the script itself detects.
func (p *leaseStage) violate(invariant string, i int, format string, args ...any) {
	p.Checker.Violate(invariant, checker.Record{At: p.World.Now(), Node: p.ids[i]}, "%s", fmt.Sprintf(format, args...))
}

// holds reports whether a member may act for the job now.
func (p *leaseStage) holds(i int) bool {
	m := p.w.machines[p.ids[i]]
	if !p.World.Alive(p.ids[i]) || m == nil {
		return false
	}
	_, holds := m.registers.Holds(p.Local(p.ids[i]), p.job)
	return holds
}
