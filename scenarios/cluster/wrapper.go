package cluster

import "hyperscale/core/node"

// wrapper is a machine whose inputs a world sees first. It holds what the machine holds.
type wrapper struct{ node.Machine }

// Sizes implements node.Sizer.
func (w wrapper) Sizes(tell node.Tell) {
	if m, ok := w.Machine.(node.Sizer); ok {
		m.Sizes(tell)
	}
}

// Rests implements node.Rester.
func (w wrapper) Rests(tell node.Tell) {
	if m, ok := w.Machine.(node.Rester); ok {
		m.Rests(tell)
	}
}
