package plan

import (
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Digest identifies a plan: equal plans have equal digests, everywhere.
func Digest(p *message.Plan) uint64 {
	// msgp writes fields in the order of the structs, and no plan holds a map.
	encoded, err := p.MarshalMsg(nil)
	if err != nil {
		node.Bug("plan of %s: %v", p.Source, err)
	}
	return node.MixBytes(1, encoded)
}
