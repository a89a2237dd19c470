package swim

import (
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/node"
)

// bury keeps a tombstone: without it, old news would make the dead a member again.
func (g *tracker) bury(env node.Env, i uint32, e *end) {
	if len(g.ends) == 0 {
		env.SetTimer(node.Key(node.PartSwim, node.SwimReap), max(0, e.since.Add(g.config.ReapAge).Sub(env.Now())))
	}
	g.ends.add(g.table.records, i, e)
}

// unbury removes the tombstone of a member that returns under a higher incarnation.
func (g *tracker) unbury(i uint32) {
	if g.end(i).recent {
		g.hold.recent--
	}
	g.ends.drop(g.table.records, i)
}

// onReap drops members that have been gone for long enough.
func (g *tracker) onReap(env node.Env) {
	var due []uint32
	var next node.Instant
	for i := range g.table.records {
		e := g.end(uint32(i))
		if e == nil {
			continue
		}
		if at := e.since.Add(g.config.ReapAge); at <= env.Now() {
			due = append(due, uint32(i))
		} else if next == 0 || at < next {
			next = at
		}
	}
	for _, i := range due {
		if !g.end(i).silent {
			g.changed(env, i, g.table.records[i].state, Removed, g.end(i).by, "it has been gone for "+g.config.ReapAge.String())
		}
		g.unbury(i)
		if int(i) < len(g.apps) {
			g.apps[i] = app{}
		}
	}
	g.forget(due)
	if len(g.ends) > 0 {
		env.SetTimer(node.Key(node.PartSwim, node.SwimReap), max(0, next.Sub(env.Now())))
	}
}

// forget frees places, and everything that refers to them.
func (g *tracker) forget(places []uint32) {
	if len(places) == 0 {
		return
	}
	for at := 0; at < len(g.order); {
		if slices.Contains(places, g.order[at]) {
			g.unlist(at)
			continue
		}
		at++
	}
	for at := range g.seeds {
		if s := &g.seeds[at]; s.known && slices.Contains(places, s.place) {
			s.known = false
		}
	}
	g.buffer.forget(places)
	g.hold.forget(places)
	g.table.remove(places)
}

// hold detects that more than half of a group fails within HoldMax. Then the cause is more
// likely at this node or in the network than at each of them.
type hold struct {
	on     bool
	spent  bool // it has lasted HoldMax; the next one needs its end first
	recent int  // deaths within HoldMax of members that have not returned
	deaths []death
}

type death struct {
	place uint32
	since node.Instant
}

// holdLeast is the smallest group with a hold: a lone worker's death is no correlation.
const holdLeast = 3

func (h *hold) forget(places []uint32) {
	h.deaths = slices.DeleteFunc(h.deaths, func(d death) bool { return slices.Contains(places, d.place) })
}

// mourn counts a death that this node has just learnt.
func (g *tracker) mourn(env node.Env, i uint32) {
	if g.config.HoldMax == 0 {
		return
	}
	g.end(i).recent = true
	g.hold.recent++
	g.hold.forget([]uint32{i}) // one entry each, so that a flapping member does not fill the list
	g.hold.deaths = append(g.hold.deaths, death{i, env.Now()})
}

// weigh sets or lifts the hold.
func (g *tracker) weigh(env node.Env) {
	h := &g.hold
	for len(h.deaths) > 0 && env.Now().Sub(h.deaths[0].since) >= g.config.HoldMax {
		// A member that returned and died again since has a later entry.
		if e := g.end(h.deaths[0].place); e != nil && e.recent && !slices.ContainsFunc(h.deaths[1:], func(d death) bool { return d.place == h.deaths[0].place }) {
			e.recent = false
			h.recent--
		}
		h.deaths = h.deaths[1:]
	}
	total := g.live + h.recent
	failing := len(g.suspicions) + h.recent
	correlated := g.config.HoldMax > 0 && total >= holdLeast && 2*failing > total
	switch {
	case 3*failing <= total: // well below half, so that it does not flap
		h.spent = false
		g.setHold(env, false)
	case correlated && !h.on && !h.spent:
		env.SetTimer(node.Key(node.PartSwim, node.SwimHold), g.config.HoldMax)
		g.setHold(env, true)
	}
}

func (g *tracker) setHold(env node.Env, on bool) {
	if g.hold.on == on {
		return
	}
	g.hold.on = on
	if on {
		env.Emit(event.Reached{What: "swim/eviction-hold"})
	} else {
		env.CancelTimer(node.Key(node.PartSwim, node.SwimHold))
	}
	if !g.config.Untold {
		g.changes = append(g.changes, Change{Kind: ChangeHold, Hold: on})
	}
}

// onHold ends a hold that has lasted HoldMax.
func (g *tracker) onHold(env node.Env) {
	g.hold.spent = true
	g.setHold(env, false)
	g.weigh(env)
}

// EvictionHold reports that more than half of the group failed at once, at most HoldMax ago: a
// role that evicts for other reasons than death should wait.
func (g *tracker) EvictionHold() bool { return g.hold.on }
