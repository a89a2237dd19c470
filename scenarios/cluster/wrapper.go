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

// Entrance implements node.Doorkept.
func (w wrapper) Entrance() node.Entrance {
	if m, ok := w.Machine.(node.Doorkept); ok {
		return m.Entrance()
	}
	return nil
}

// openWrapper is a machine without its entrance.
type openWrapper struct{ node.Machine }

// Sizes implements node.Sizer.
func (w openWrapper) Sizes(tell node.Tell) { wrapper(w).Sizes(tell) }

// Rests implements node.Rester.
func (w openWrapper) Rests(tell node.Tell) { wrapper(w).Rests(tell) }
