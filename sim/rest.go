package sim

import (
	"maps"
	"slices"

	"hyperscale/core/node"
	"hyperscale/netsim"
)

// Rests has the machines that run tell their ledgers against their rest, in the order
// of Add, and tells what the world itself keeps for each. It changes nothing, and is in
// no hash.
func (w *World) Rests(tell func(id node.ID, what string, n, rest int)) {
	doubles := w.streams.Doubles()
	for i, p := range w.nodes {
		if !p.started() {
			continue
		}
		own := func(what string, n, rest int) { tell(p.peer.ID, what, n, rest) }
		if m, ok := p.machine.(node.Rester); ok {
			m.Rests(own)
		}
		own("mailbox", p.box.Len(), 0)
		own("executors", len(p.exec.runs), 0)
		for to, q := range w.nodes {
			if len(doubles) == 0 {
				break
			}
			if n := doubles[[2]netsim.Host{netsim.Host(i), netsim.Host(to)}]; n > 0 {
				own("further streams to "+string(q.peer.Addr), n, 0)
			}
		}
		timers := p.timers.ending()
		if len(timers) == 0 {
			continue
		}
		for _, of := range slices.Sorted(maps.Keys(timers)) {
			own("timers of "+of, timers[of], 0)
		}
	}
}

// ending counts the timers that are set for what ends, by what that is.
func (t *timerTable) ending() map[string]int {
	var found map[string]int
	for i := range t.places {
		p := &t.places[i]
		if p.digest == 0 {
			continue
		}
		if of := p.key.Ends(); of != "" {
			if found == nil {
				found = map[string]int{}
			}
			found[of]++
		}
	}
	return found
}
