package manager

import (
	"maps"
	"slices"

	"hyperscale/core/node"
)

// closeUnmet closes the streams on which no worker has registered and which stay
// silent: their peer is gone, and no break tells so.
//
//  1. A worker opens a stream; its host loses power before the first heartbeat.
//  2. The network tells the manager of no break, since the manager sends nothing.
//  3. Each restart adds a stream, until the manager sheds the streams of others.
func (m *Machine) closeUnmet(env node.Env) {
	for _, s := range slices.Sorted(maps.Keys(m.unmet)) {
		if env.Now().Sub(m.unmet[s]) >= m.config.Silence {
			env.Close(s)
			delete(m.unmet, s)
			delete(m.streams, s)
		}
	}
}
