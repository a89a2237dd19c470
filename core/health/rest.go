package health

import "hyperscale/core/node"

// Rests tells that clocks of members alone are compared: known is how many there are.
func (c *Clocks) Rests(tell node.Tell, known int) { tell("health/clocks", len(c.tracks), known) }
