package election

import "hyperscale/core/node"

// putsMax bounds open writes of terms and votes: this voter sends no answer while its disk
// hangs.
const putsMax = 64

// Sizes reports what this voter holds, against its bounds.
func (e *Election) Sizes(tell node.Tell) {
	tell("election/writes", len(e.puts), 2*putsMax)
	tell("election/admitted", len(e.admitted), len(e.others))
	tell("election/changes", len(e.changes), e.config.FlapLimit)
}
