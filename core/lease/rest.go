package lease

import (
	"hyperscale/core/node"
)

// Rests reports this member's ledgers against their rest: it owns no register and wants none.
// Released registers remain as tombstones until TombstoneAge.
func (r *Registers) Rests(tell node.Tell) {
	w := &r.writes
	tell("lease/writes", len(w.next)+len(w.open)+len(w.erase), 0)
	tell("lease/writes that wait", len(w.waiting)+len(w.places), 0)
	tell("lease/callers of writes", len(w.then)+len(w.opened), 0)
	tell("lease/keys of the start", len(w.keys), 0)
	tell("lease/reads", len(r.reads)+len(r.readQueue.entries), 0)
	tell("lease/proposals", len(r.proposals.entries), 0)
	tell("lease/watched registers", len(r.watch.entries), 0)
	tell("lease/outcomes", len(r.outcomes), 0)
	tell("lease/strangers", len(r.strangers), MembersMax)
	frames, owned, updates, writing, hollow := 0, 0, 0, 0, 0
	for i := range r.out {
		frames += len(r.out[i].frames)
	}
	//lint:orderfree sums
	for _, reg := range r.registers {
		if reg.writing {
			writing++
		}
		if a := &reg.accepted; reg.own == nil && (a.Token.Zero() || a.Released && !reg.reaped && void(a)) {
			hollow++
		}
		if p := reg.own; p != nil {
			owned++
			updates += len(p.tickets)
			if p.updating != 0 || p.next != nil {
				updates++
			}
		}
	}
	tell("lease/registers that hold nothing", hollow, 0)
	tell("lease/frames", frames, 0)
	tell("lease/registers that are owned", owned, 0)
	tell("lease/open updates", updates, 0)
	tell("lease/registers that are written", writing, 0)
	merged := 0
	if r.joining != nil {
		merged = 1 + len(r.joining.merged) + len(r.joining.cursor)
	}
	if r.recovery != nil {
		merged++
	}
	tell("lease/joins", merged, 0)
}

// readsMax bounds concurrent reads of a majority.
const readsMax = 16 << 10

// Sizes reports what this member holds, against its bounds.
func (r *Registers) Sizes(tell node.Tell) {
	tell("lease/registers", len(r.registers), r.c.RegistersMax)
	tell("lease/tombstones", r.tombs.Len(), r.c.TombsMax)
	ages, most := r.tombs.Ages()
	tell("lease/ages of tombstones", ages, most)
	tell("lease/writes", len(r.writes.next)+len(r.writes.open), r.c.RegistersMax)
	tell("lease/reads", len(r.readQueue.entries), readsMax)
	tell("lease/strangers", len(r.strangers), MembersMax)
}
