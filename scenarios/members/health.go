package members

import (
	"hyperscale/core/health"
	"hyperscale/core/node"
	"hyperscale/core/swim"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// healthMonitor is what a role does, beside its membership, about its own health and its peers'
// clocks.
type healthMonitor struct {
	group   *swim.Group
	monitor *health.Monitor
	clocks  *health.Clocks
}

func newHealthMonitor(g *swim.Group) *healthMonitor {
	return &healthMonitor{g, health.New(health.Default()), health.NewClocks(health.DefaultClock())}
}

// fire handles a timer, and reports whether it was the monitor's.
func (w *healthMonitor) fire(env node.Env, k node.TimerKey) bool {
	if w == nil {
		return false
	}
	before := w.monitor.Lag()
	if !w.monitor.Fire(env, k) {
		return false
	}
	w.monitor.SetMultiplier(env, w.group.Multiplier())
	if lag := w.monitor.Lag(); lag != before {
		w.group.SetLag(lag)
	}
	return true
}

func (w *healthMonitor) take(env node.Env, c *swim.Change) {
	if w != nil && c.Kind == swim.ChangeSample {
		w.clocks.Observe(env, c.Member.ID, c.Member.Run(), health.Sample{Sent: c.Sample.Sent, Received: c.Sample.Received, Uptime: c.Sample.Uptime})
	}
}

// watched is a crowd whose members watch their own health and each other's clocks.
func watched(s *stage.Stage, n size) *crowd {
	var seeds []node.Addr
	var roster []*swim.Identity
	c := newCrowd(s, n, sim.Spec{}, func(_ int, o *swim.Config) { o.Seeds, o.Known = seeds, roster })
	c.monitors = map[node.ID]*healthMonitor{}
	seeds, roster = c.addrs(3), c.roster()
	for _, id := range c.ids {
		s.World.Start(id)
	}
	return c
}
