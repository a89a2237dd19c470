package sim_test

import (
	"fmt"
	"testing"
	"time"

	"hyperscale/core/message/toy"
	"hyperscale/core/node"
	"hyperscale/netsim"
	"hyperscale/sim"
)

// chatter sends one message to a neighbour ten times a second, as a datagram or on a stream.
type chatter struct {
	to      node.Addr
	streams bool
	stream  node.StreamID
	ping    toy.Ping
}

func (c *chatter) Step(env node.Env, in *node.Input) {
	switch in.Kind {
	case node.InputStart:
		env.SetTimer(node.Key(node.PartPing, 1), env.Rand(node.PurposeToy).Duration(0, 100*time.Millisecond))
		if c.streams {
			c.stream = env.Open(c.to)
		}
	case node.InputTimer:
		env.SetTimer(node.Key(node.PartPing, 1), 100*time.Millisecond)
		if c.streams {
			env.Send(c.stream, &c.ping)
		} else {
			env.Datagram(c.to, &c.ping)
		}
	}
}

func chatterWorld(streams bool, costs sim.Costs) *sim.World {
	w := sim.New(sim.Config{Seed: 1, Network: netsim.Default()})
	const nodes = 100
	for i := range nodes {
		w.Add(sim.Spec{ID: node.ID(fmt.Sprint(i)), Role: node.RoleToy, Place: "dc", Costs: costs, New: func() node.Machine {
			return &chatter{to: w.Addr(node.ID(fmt.Sprint((i + 1) % nodes))), streams: streams}
		}})
	}
	for _, id := range w.Nodes() {
		w.Start(id)
	}
	w.RunUntil(2 * time.Second)
	return w
}

// Delivering a message in fast mode allocates nothing except the message.
func TestDeliveryAllocatesNothing(t *testing.T) {
	for _, row := range []struct {
		what    string
		streams bool
		costs   sim.Costs
	}{
		{"datagrams to idle nodes", false, sim.Costs{}},
		{"datagrams to busy nodes", false, sim.Costs{Default: time.Millisecond}},
		{"streams", true, sim.Costs{}},
		{"streams to busy nodes", true, sim.Costs{Default: 5 * time.Millisecond}},
	} {
		w := chatterWorld(row.streams, row.costs)
		before := w.Events()
		got := testing.AllocsPerRun(10, func() { w.RunUntil(w.Now() + time.Second) })
		if events := (w.Events() - before) / 11; got != 0 || events < 1900 {
			t.Errorf("%s: %v allocations in %d events, want none in 2000", row.what, got, events)
		}
	}
}

func BenchmarkEvents(b *testing.B) {
	for _, row := range []struct {
		name    string
		streams bool
		costs   sim.Costs
	}{
		{"datagrams", false, sim.Costs{}},
		{"streams", true, sim.Costs{}},
		{"busy", true, sim.Costs{Default: 5 * time.Millisecond}},
	} {
		b.Run(row.name, func(b *testing.B) {
			b.ReportAllocs()
			w := chatterWorld(row.streams, row.costs)
			before := w.Events()
			for b.Loop() {
				w.Step(1 << 56)
			}
			b.ReportMetric(float64(w.Events()-before)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

// sleeper is a chatter with timers that hardly ever fire: it has one for each peer that it
// knows.
type sleeper struct {
	chatter
	timers int
	next   uint64
}

func (s *sleeper) Step(env node.Env, in *node.Input) {
	switch in.Kind {
	case node.InputStart:
		for i := range s.timers {
			env.SetTimer(node.KeyN(node.PartPing, 2, uint64(i)), time.Hour)
		}
	case node.InputMessage: // a peer spoke: set its timer again
		s.next++
		env.SetTimer(node.KeyN(node.PartPing, 2, s.next*7%uint64(s.timers)), 5*time.Second)
		return
	}
	s.chatter.Step(env, in)
}

func BenchmarkIdleTimers(b *testing.B) {
	for _, timers := range []int{1, 100, 1000} {
		b.Run(fmt.Sprint(timers), func(b *testing.B) {
			b.ReportAllocs()
			w := sim.New(sim.Config{Seed: 1, Network: netsim.Default()})
			const nodes = 300
			for i := range nodes {
				w.Add(sim.Spec{ID: node.ID(fmt.Sprint(i)), Role: node.RoleToy, Place: "dc", New: func() node.Machine {
					return &sleeper{chatter: chatter{to: w.Addr(node.ID(fmt.Sprint((i + 1) % nodes)))}, timers: timers}
				}})
			}
			for _, id := range w.Nodes() {
				w.Start(id)
			}
			w.RunUntil(20 * time.Second)
			before := w.Events()
			for b.Loop() {
				w.Step(1 << 56)
			}
			b.ReportMetric(float64(w.Events()-before)/b.Elapsed().Seconds(), "events/s")
		})
	}
}
