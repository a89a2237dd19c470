package lease

import "hyperscale/core/node"

// readsMax bounds reads of a majority that are under way at once.
const readsMax = 16 << 10

// Sizes tells what this member keeps, against its bounds.
func (r *Registers) Sizes(tell node.Tell) {
	tell("lease/registers", len(r.registers), r.c.RegistersMax)
	tell("lease/writes", len(r.writes.next)+len(r.writes.open), r.c.RegistersMax)
	tell("lease/reads", len(r.readQueue.entries), readsMax)
	tell("lease/strangers", len(r.strangers), MembersMax)
}
