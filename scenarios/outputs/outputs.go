package outputs

import (
	"time"

	"hyperscale/core/event"
	"hyperscale/core/gate"
	"hyperscale/core/node"
	"hyperscale/core/output"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// Worlds returns the worlds whose gates deliver rows.
func Worlds() []stage.Scenario {
	return []stage.Scenario{{
		Name: "outputs", Virtual: 5 * time.Minute, Build: cluster.On(buildOutputs),
		Doc: "The gates that own jobs deliver their rows to two sinks while gates, managers and workers crash, pause and are cut off. The sinks are slow, lose answers, and reject rows. One replaces rows by their keys, the other one adds up. For each step, the windows in each sink are the result and what is lost. No windows overlap, and no row comes twice that no gate reports.",
	}}
}

func buildOutputs(s *cluster.Cluster) {
	k := &sinks{
		s: s, rand: node.NewRand(s.Options.Seed, "sinks", node.PurposeWorkload), rows: map[place]map[string]output.Row{},
		seen: map[place]map[string]bool{}, twice: map[place]uint64{}, never: map[place]uint64{}, ended: map[place]event.SinkEnded{},
	}
	t := cluster.GroupTopology()
	t.Datacenters = 2
	s.Sinks = k
	t.Gate = func(c *gate.Config) {
		c.Sinks = []output.Sink{{Name: exact, Window: 5 * time.Second, Default: true}, {Name: adding, Window: time.Second, Default: true}}
		c.OutputTimeout = 40 * time.Second
	}
	s.Standard(t, func(l *cluster.Load) { l.Every, l.Duration, l.Cores = 4*time.Second, 20*time.Second, 3 })
	for _, o := range s.Orders {
		o.Submit.Sent = 1_700_000_000_000 + uint64(len(o.Key))
	}
	s.Often(s.Gates, 12*time.Second, sim.FaultCrash, 6*time.Second, 0)
	s.Often(s.Gates, 17*time.Second, sim.FaultPause, 12*time.Second, 0)
	s.Often(s.Managers, 23*time.Second, sim.FaultCrash, 6*time.Second, 0)
	s.Often(s.Workers, 29*time.Second, sim.FaultCrash, 6*time.Second, 0)
	s.Witness = append(s.Witness, k.see)
	s.Verdicts = append(s.Verdicts, k.judge)
}
