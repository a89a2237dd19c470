package message

import "hyperscale/core/node"

type Beat struct {
	At   node.Instant
	Name string
}

func sent(at node.Time) bool { return at.At < 1 }

type when = node.Instant
