package swim

import (
	"hyperscale/core/node"
)

// Sizes reports what this node holds of its group, against its bounds.
func (g *Group) Sizes(tell node.Tell) {
	most := g.config.MembersMax
	tell("swim/members", g.table.size(), most)
	tell("swim/tombstones", len(g.ends), most)
	tell("swim/suspicions", len(g.suspicions), most)
	tell("swim/deaths", len(g.hold.deaths), most)
	tell("swim/news", len(g.buffer.pieces), g.config.GossipMax)
	tell("swim/relays", len(g.relays), relaysMax)
}
