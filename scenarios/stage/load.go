package stage

import (
	"time"

	"hyperscale/core/node"
	"hyperscale/sim"
)

// LoadKinds returns the faults that are load. Each is bounded, so that a healed cluster ends all
// that it has accepted within LivenessBound: some hundred jobs of a second on one core each, a few
// megabytes of programs, and links on which these take half a minute.
func LoadKinds() []FaultKind {
	return []FaultKind{
		{Kind: sim.FaultBurst, Most: 3, Longest: 20 * time.Second, Low: 10, High: 100, roles: "c", Everywhere: true},
		{Kind: sim.FaultPrograms, Most: 2, Longest: 20 * time.Second, Low: 32, High: 480, roles: "c", Everywhere: true},
		{Kind: sim.FaultQueries, Most: 3, Longest: 20 * time.Second, Low: 20, High: 400, roles: "c", Everywhere: true},
		{Kind: sim.FaultSlowLink, Most: 3, Longest: 30 * time.Second, Low: 200, High: 4_000, Everywhere: true},
		{Kind: sim.FaultSlowCPU, Most: 3, Longest: 20 * time.Second, Low: 100, High: 2_000, roles: "gmw"},
		{Kind: sim.FaultDiskSlow, Most: 3, Longest: 20 * time.Second, Low: 100, High: 5_000, roles: "gmw"},
	}
}

// Loaded says whether load is among the faults of this run: of every second seed. The others
// play what they played before there was load.
func (s *Stage) Loaded() bool { return s.Options.Seed%2 == 0 }

// Apart makes draws that shift no other draw.
func (s *Stage) Apart(purpose string, draw func()) {
	own := s.Rand
	s.Rand = node.NewRand(s.Options.Seed, node.ID(purpose), node.PurposeWorkload)
	draw()
	s.Rand = own
}

// Planned returns the fault of a kind that has no time: drawn before, or recorded. It returns
// nil if there is none.
func (s *Stage) Planned(kind string) *sim.Fault {
	all := s.Faults
	if s.Options.Faults != nil {
		all = s.Options.Faults
	}
	for i := range all {
		if all[i].Kind == kind {
			return &all[i]
		}
	}
	return nil
}
