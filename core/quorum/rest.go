package quorum

import "hyperscale/core/node"

// Sizes reports what the member holds, against its bounds.
func (m *Member) Sizes(tell node.Tell) {
	m.Leases.Sizes(tell)
	m.Files.Sizes(tell)
	m.Swim.Sizes(tell)
	m.Election.Sizes(tell)
	m.clocks.Sizes(tell)
}

// Rests reports what the member holds once all jobs have ended, against its rest.
func (m *Member) Rests(tell node.Tell) {
	m.Leases.Rests(tell)
	m.Files.Rests(tell)
	m.Swim.Rests(tell)
	m.Election.Rests(tell)
	m.clocks.Rests(tell, m.Swim.Size())
}
