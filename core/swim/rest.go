package swim

import (
	"hyperscale/core/node"
)

// Rests reports this node's ledgers of its group against their rest: no member is suspect, and
// no news wait. Gone members remain as tombstones until ReapAge.
func (g *Group) Rests(tell node.Tell) {
	known := g.Size()
	tell("swim/suspicions", len(g.suspicions), 0)
	tell("swim/relays", len(g.relays), 0)
	tell("swim/news", len(g.buffer.pieces), 0)
	tell("swim/changes", len(g.changes), 0)
	tell("swim/probe order", len(g.order), known)
	tell("swim/states of members", len(g.apps), len(g.table.records))
	tell("swim/deaths", len(g.hold.deaths), known)
	tell("swim/tombstones", len(g.ends), known-g.live)
	queued := 0
	for i := range g.table.records {
		if g.table.records[i].queued {
			queued++
		}
	}
	tell("swim/members with news", queued, 0)
}
