package swim

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"hyperscale/core/event"
	"hyperscale/core/message/toy"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
)

// host is a role that only has a group. A stop is a leave. A Ping sets its application state,
// or how late its loop is.
type host struct {
	*Group
	seen map[node.ID]Member // after the last step; nil if the test does not show it
}

func (h host) Step(env node.Env, in *node.Input) {
	switch in.Kind {
	case node.InputStart:
		h.Start(env)
	case node.InputMessage:
		h.Receive(env, in)
	case node.InputStreamOpened:
		h.Opened(env, in)
	case node.InputStreamBroken:
		h.Broken(env, in)
	case node.InputTimer:
		h.Fire(env, in.Timer)
	case node.InputCommand:
		p := in.Message.(*toy.Ping)
		if p.Counter > 0 {
			h.SetState([]byte(fmt.Sprint(p.Counter)))
		} else {
			h.SetLag(time.Duration(p.From) * time.Millisecond)
			env.Emit(event.Reached{What: fmt.Sprintf("multiplier-%d", h.Multiplier())})
		}
	case node.InputStop:
		h.Leave(env)
	}
	for _, c := range h.Take() {
		if c.Kind == ChangeHold {
			env.Emit(event.Reached{What: fmt.Sprintf("hold-%v", c.Hold)})
		}
	}
	if h.seen != nil {
		h.compare(env)
	}
}

// compare shows a step's changes of a member that stayed alive: its application state, and
// another incarnation of its node.
func (h host) compare(env node.Env) {
	for _, m := range h.Members() {
		was, known := h.seen[m.ID]
		h.seen[m.ID] = m
		if m.ID == env.Self().ID || m.State != Alive {
			continue
		}
		if !bytes.Equal(was.App, m.App) {
			env.Emit(event.Reached{What: fmt.Sprintf("app-of-%s-%s", m.ID, m.App)})
		}
		if known && was.State == Alive && was.Run() != m.Run() {
			env.Emit(event.Reached{What: fmt.Sprintf("restart-of-%s-%d", m.ID, m.Run())})
		}
	}
}

func small() Config {
	c := Default()
	c.Group = "dc1"
	return c
}

func world(c Config) *nodetest.Env {
	return nodetest.New(nodetest.Config{
		Self: node.Peer{ID: "a", Incarnation: 1, Role: node.RoleManager, Addr: "a:1"},
		New:  func() node.Machine { return host{New(c), map[node.ID]Member{}} },
	})
}

func TestStories(t *testing.T) {
	configs := map[string]func(*Config){
		"testdata/join.txt":  func(c *Config) { c.Seeds = []node.Addr{"a:1", "b:1", "c:1"} },
		"testdata/crowd.txt": func(c *Config) { c.GossipFanout, c.ListRate, c.ListBurst = 0, 1000, 50 },
	}
	nodetest.Stories(t, func(t *testing.T, path string) {
		c := small()
		if change := configs[path]; change != nil {
			change(&c)
		}
		w := world(c)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return w.Run(t, d) })
	})
}
