package health

import "hyperscale/core/node"

// Rests reports that Clocks holds no more peers than there are members: known is their number.
func (c *Clocks) Rests(tell node.Tell, known int) { tell("health/clocks", len(c.tracks), known) }
