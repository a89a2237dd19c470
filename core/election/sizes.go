package election

import "hyperscale/core/node"

// putsMax bounds writes of terms and votes that are under way: a disk that stands
// still answers nobody.
const putsMax = 64

// Sizes tells what this voter keeps, against its bounds.
func (e *Election) Sizes(tell node.Tell) {
	tell("election/writes", len(e.puts), 2*putsMax)
	tell("election/admitted", len(e.admitted), len(e.others))
	tell("election/changes", len(e.changes), e.config.FlapLimit)
}
