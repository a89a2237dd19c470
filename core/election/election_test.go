package election

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
)

// toy is a machine around an election. Commands: LeaderBeatAck sets the fitness to Fitness,
// LeaderHandOver drains, VoterJoined sets the epoch. With Blank the epoch was recovered from
// another disk; with a Term the registers are no members. It shows outcomes as event.Reached.
type toy struct {
	*Election
	post  func(to node.Addr, m node.Message) // instead of a datagram
	epoch uint64
	first node.Addr
	mute  bool
}

// Epoch and First implement Registers.
func (t *toy) Epoch() (uint64, bool)  { return t.epoch, !t.mute }
func (t *toy) First(a node.Addr) bool { return a == t.first }

// Agrees implements Registers.
func (t *toy) Agrees(node.Addr) bool { return true }

func newToy(c Config) *toy {
	t := &toy{}
	c.Registers = t
	t.Election = New(c, t)
	return t
}

func (t *toy) Post(env node.Env, to node.Addr, m node.Message) {
	if t.post != nil {
		t.post(to, m)
		return
	}
	env.Datagram(to, m)
}

func (t *toy) Step(env node.Env, in *node.Input) {
	switch in.Kind {
	case node.InputStart:
		t.Start(env)
	case node.InputMessage:
		if !t.Receive(env, in.From, in.Message) {
			node.Bug("not a message of an election")
		}
	case node.InputTimer:
		t.Fire(env, in.Timer)
	case node.InputStored:
		t.Stored(env, in)
	case node.InputCommand:
		switch m := in.Message.(type) {
		case *message.LeaderBeatAck:
			t.SetFitness(env, int(m.Fitness))
		case *message.LeaderHandOver:
			t.HandOver(env)
		case *message.VoterJoined:
			t.epoch, t.first, t.mute = m.Epoch, addr(1), m.Term > 0
			if m.Blank {
				t.first = addr(2)
			}
		}
	}
	for _, o := range t.Take() {
		env.Emit(event.Reached{What: fmt.Sprintf("%v %d %s", o.Kind, o.Term, o.Leader)})
	}
}

func addr(i int) node.Addr { return node.Addr(fmt.Sprintf("g%d:1", i)) }

func peer(i int) node.Peer {
	return node.Peer{ID: node.ID(fmt.Sprintf("g%d", i)), Incarnation: 1, Role: node.RoleGate, Addr: addr(i)}
}

func config(self, voters int) Config {
	c := Default()
	c.Group, c.Self = "gates", addr(self)
	for i := range voters {
		c.Voters = append(c.Voters, addr(i+1))
	}
	return c
}

func world(self, voters int, seed uint64, opened func(*toy)) *nodetest.Env {
	return nodetest.New(nodetest.Config{Self: peer(self), Seed: seed, New: func() node.Machine {
		t := newToy(config(self, voters))
		if opened != nil {
			opened(t)
		}
		return t
	}})
}

func TestStories(t *testing.T) {
	nodetest.Stories(t, func(t *testing.T, path string) {
		voters := 3
		if strings.HasSuffix(path, "single.txt") {
			voters = 1
		}
		w := world(1, voters, 1, nil)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return w.Run(t, d) })
	})
}
