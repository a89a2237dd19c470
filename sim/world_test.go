package sim_test

import (
	"fmt"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/message/toy"
	"hyperscale/core/node"
	"hyperscale/netsim"
	"hyperscale/sim"
)

// scripted does what a test tells it to.
type scripted struct{ step func(node.Env, *node.Input) }

func (t *scripted) Step(env node.Env, in *node.Input) { t.step(env, in) }

// world is a world with a record of what its toys saw.
type world struct {
	*sim.World
	t     *testing.T
	lines []string
}

func newWorld(t *testing.T, c sim.Config) *world {
	t.Helper()
	if c.Network.ConnectMax == 0 {
		c.Network = plainNetwork()
	}
	return &world{World: sim.New(c), t: t}
}

// plainNetwork takes exactly 10 ms for everything.
func plainNetwork() netsim.Config {
	c := netsim.Default()
	c.Near = netsim.Link{Latency: 10 * time.Millisecond, Bandwidth: 1 << 40}
	c.Far = c.Near
	return c
}

// add adds a toy and starts it at once.
func (w *world) add(spec sim.Spec, step func(node.Env, *node.Input)) {
	if spec.Role == node.RoleNone {
		spec.Role = node.RoleToy
	}
	spec.Place = "dc"
	spec.New = func() node.Machine { return &scripted{step} }
	w.Add(spec)
	w.Start(spec.ID)
}

func (w *world) log(format string, args ...any) {
	w.lines = append(w.lines, fmt.Sprintf("%v ", w.Now())+fmt.Sprintf(format, args...))
}

// took compares and empties the record.
func (w *world) took(want ...string) {
	w.t.Helper()
	if fmt.Sprint(w.lines) != fmt.Sprint(want) {
		w.t.Errorf("got:\n%s\nwant:\n%s", lines(w.lines), lines(want))
	}
	w.lines = nil
}

func lines(all []string) (text string) {
	for _, l := range all {
		text += "  " + l + "\n"
	}
	return text
}

func ping(n uint64) *toy.Ping { return &toy.Ping{Counter: n} }

// A worker whose certificate claims a datacenter registers there alone, as at the door in production.
func TestTheDoorAsksWhereAWorkerRegisters(t *testing.T) {
	w := newWorld(t, sim.Config{})
	w.add(sim.Spec{ID: "b"}, func(_ node.Env, in *node.Input) {
		if m, ok := in.Message.(*message.WorkerHeartbeat); ok {
			w.log("b got %s in %s of %+v", in.From.ID, m.Datacenter, in.From.Grant)
		}
	})
	w.add(sim.Spec{ID: "a", Grant: node.Grant{Datacenter: "d"}}, func(env node.Env, in *node.Input) {
		if in.Kind == node.InputStart {
			for _, name := range []string{"x", "d"} {
				env.Datagram(w.Addr("b"), &message.WorkerHeartbeat{Datacenter: name, Sequence: 1, CoresTotal: 1})
			}
		}
	})
	w.RunUntil(time.Second)
	w.took("10ms b got a in d of {Subject: Datacenter:d Right:operator}")
}

func TestADatagramTakesItsTime(t *testing.T) {
	w := newWorld(t, sim.Config{})
	w.add(sim.Spec{ID: "b"}, func(env node.Env, in *node.Input) {
		if m, ok := in.Message.(*toy.Ping); ok {
			w.log("b got %d from %v", m.Counter, in.From)
		}
	})
	w.add(sim.Spec{ID: "a"}, func(env node.Env, in *node.Input) {
		if in.Kind == node.InputStart {
			env.Datagram(w.Addr("b"), ping(1))
		}
	})
	w.RunUntil(time.Second)
	w.took("10ms b got 1 from a#1")
}
