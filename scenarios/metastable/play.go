package metastable

import (
	"cmp"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// Times of a run.
const (
	settles = 10 * time.Second // from here on requests count
	begins  = 30 * time.Second // the trigger
	watched = 90 * time.Second // after the trigger's end
	span    = 5 * time.Second  // over which shares are taken
)

// play is one run of a cell.
type play struct {
	*cluster.Cluster
	loop *Loop
	cell Cell
	end  time.Duration

	at    []time.Duration // when each request was asked
	spans []tally
	went  map[message.JobID]bool // jobs that were dispatched
}

// tally counts the requests of one span by when they were asked, and those that were sent by when they
// were: all, those that repeat an earlier one, and those that reached the server.
type tally struct{ asked, good, sent, again, came int }

// Play plays one cell.
func Play(c Cell) Outcome {
	p := &play{loop: loopOf(c.Loop), cell: c, end: begins + c.Length + watched}
	p.went = map[message.JobID]bool{}
	p.spans = make([]tally, int(p.end/span)+1)
	s := stage.Scenario{Name: "metastable", Virtual: p.end, Within: time.Hour, Rate: 1 << 30, Build: cluster.On(p.begin)}
	s.Run(stage.Options{Seed: 1, Observer: sends{p}})
	return p.outcome()
}

func (p *play) begin(s *cluster.Cluster) {
	p.Cluster = s
	s.Build(p.loop.build(p.cell.Guards))
	p.trigger()
	gap := time.Second * 100 / time.Duration(p.loop.rate*cmp.Or(p.cell.Load, 90))
	if p.loop.ask == nil {
		return
	}
	for at := 5 * time.Second; at < p.end; at += gap {
		n := 1
		if p.cell.Trigger == Spike && at >= begins && at < begins+p.cell.Length {
			n = p.cell.Depth
		}
		for k := range n {
			p.request(at + gap*time.Duration(k)/time.Duration(n))
		}
	}
}

func (p *play) request(at time.Duration) {
	n := len(p.at)
	p.at = append(p.at, at)
	p.spans[at/span].asked++
	p.World.At(at, func() { p.loop.ask(p, n) })
}

// answered counts a request that has its answer, if it is in time.
func (p *play) answered(n int) {
	if p.World.Now()-p.at[n] <= p.loop.patient {
		p.spans[p.at[n]/span].good++
	}
}

// trigger schedules what goes wrong.
func (p *play) trigger() {
	server, askers := p.Gates, p.Clients
	switch {
	case p.loop.server == node.RoleManager && p.loop.ask == nil:
		server, askers = p.Managers, p.Workers
	case p.loop.server == node.RoleManager:
		server, askers = p.Managers, p.Gates
	}
	f := sim.Fault{At: begins, For: p.cell.Length, Nodes: stage.Names(server)}
	switch p.cell.Trigger {
	case Capacity:
		f.Kind, f.Value = sim.FaultSlowCPU, int64(p.cell.Depth)
	case Restart:
		f.Kind = sim.FaultCrash
		f.For /= time.Duration(p.cell.Depth)
		for i := range p.cell.Depth - 1 { // up for a moment in between
			again := f
			again.At += f.For * time.Duration(i+1)
			p.Fault(again)
			f.For -= 200 * time.Millisecond
		}
	case Partition:
		f.Kind, f.Peers = sim.FaultPartition, stage.Names(askers[:max(1, len(askers)*p.cell.Depth/100)])
	default:
		return
	}
	p.Fault(f)
}

// sends counts the requests that are sent to the server, and the renewals that workers get.
type sends struct{ *play }

// Interest implements sim.Interested.
func (s sends) Interest() sim.Interest { return sim.WantInputs | sim.WantEffects | sim.WantEvents }

// Input implements sim.Observer.
func (s sends) Input(at time.Duration, _ node.ID, in *node.Input) {
	if in.Kind == node.InputMessage && at < s.end && in.Message.Kind() == s.loop.asks {
		s.spans[at/span].came++
	}
	if s.loop.ask == nil && in.Kind == node.InputMessage && at < s.end && in.From.Role == node.RoleManager && in.Message.Kind() == message.KindHeartbeatAck {
		s.spans[at/span].good++
	}
}

// Effect implements sim.Observer.
func (s sends) Effect(at time.Duration, _ node.ID, e *sim.Effect) {
	if e.Message != nil && at < s.end && e.Message.Kind() == s.loop.asks {
		s.spans[at/span].sent++
		if d, ok := e.Message.(*message.JobDispatch); ok {
			if s.went[d.Job] {
				s.spans[at/span].again++
			}
			s.went[d.Job] = true
		}
	}
}

// Event implements sim.Observer.
func (s sends) Event(at time.Duration, _ node.ID, _ uint64, e node.Event) {
	if a, ok := e.(event.AskedAgain); ok && at < s.end && a.What == message.Name(s.loop.asks) {
		s.spans[at/span].again++
	}
}

// Fault implements sim.Observer.
func (s sends) Fault(time.Duration, sim.Fault) {}

// sum adds spans up.
func sum(spans []tally) (all tally) {
	for _, t := range spans {
		all.asked, all.good, all.sent, all.again, all.came = all.asked+t.asked, all.good+t.good, all.sent+t.sent, all.again+t.again, all.came+t.came
	}
	all.asked = max(1, all.asked)
	return all
}

// good is how many of a thousand asked were answered in time.
func good(spans []tally) int {
	t := sum(spans)
	return t.good * 1000 / t.asked
}

// load is how many of a thousand asked were sent, and reached the server. What went out for the first
// time counts as asked, if that is more: a request that had to wait for its server is none too many.
func (p *play) load(spans []tally) (sent, came int) {
	t := sum(spans)
	asked := max(t.asked, t.sent-t.again)
	if p.loop.ask == nil { // each renewal is a new one: there is no first
		asked = t.asked
	}
	return t.sent * 1000 / asked, t.came * 1000 / asked
}

// outcome judges the run. Spans whose last answers may come after its end do not count.
func (p *play) outcome() Outcome {
	if p.loop.ask == nil { // each worker asks once a second
		for i := range p.spans {
			p.spans[i].asked = len(p.Workers) * int(span/time.Second)
		}
	}
	o := Outcome{Cell: p.cell}
	o.Before = good(p.spans[settles/span : begins/span])
	over := begins + p.cell.Length
	first, last := int((over+span-1)/span), int((p.end-p.loop.patient)/span)
	back := last
	for back > first {
		if good(p.spans[back-1:back])*100 < o.Before*99 {
			break
		}
		back--
	}
	o.Recovered = back < last
	o.Took = max(0, time.Duration(back)*span-over)
	o.Sent, _ = p.load(p.spans[last-2 : last])
	for i := begins / span; i+2 <= time.Duration(last); i++ {
		sent, came := p.load(p.spans[i : i+2])
		o.Peak, o.Came = max(o.Peak, sent), max(o.Came, came)
	}
	return o
}
