package swim

import (
	"hyperscale/core/node"
)

// Names keeps identities side by side. A simulated world of a thousand groups of a
// thousand members shares one, so that each identity is kept once.
type Names struct {
	block  []Identity            // of which identities are cut
	shared map[node.ID]*Identity // the latest of each member; nil: one group needs no lookup
}

// NewNames returns names that any number of groups may share.
func NewNames() *Names { return &Names{shared: map[node.ID]*Identity{}} }

// blockSize is the number of identities in a block.
const blockSize = 64

// keep returns an identity that lies beside the others.
func (n *Names) keep(who Identity) *Identity {
	if known := n.shared[who.ID]; known != nil && *known == who {
		return known
	}
	if len(n.block) == cap(n.block) {
		n.block = make([]Identity, 0, blockSize)
	}
	n.block = append(n.block, who)
	kept := &n.block[len(n.block)-1]
	if n.shared != nil {
		n.shared[who.ID] = kept
	}
	return kept
}
