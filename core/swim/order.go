package swim

import (
	"slices"

	"hyperscale/core/node"
)

// next returns the next member of the shuffled list that is not gone.
func (g *members) next(r *node.Rand) (uint32, bool) {
	for tries := len(g.order) + 1; tries > 0 && len(g.order) > 0; tries-- {
		if g.cursor >= len(g.order) {
			g.shuffle(r)
		}
		i := g.order[g.cursor]
		if g.table.records[i].state.Gone() {
			g.unlist(g.cursor)
			continue
		}
		g.cursor++
		return i, true
	}
	return 0, false
}

func (g *members) shuffle(r *node.Rand) {
	g.cursor = 0
	r.Shuffle(len(g.order), func(a, b int) { g.order[a], g.order[b] = g.order[b], g.order[a] })
}

// list puts a member at a random place: it waits no longer for its first probe than others for
// their next.
func (g *members) list(r *node.Rand, i uint32) {
	if g.table.records[i].listed {
		return
	}
	g.table.records[i].listed = true
	at := r.Int(len(g.order) + 1)
	g.order = slices.Insert(g.order, at, i)
	if at < g.cursor {
		g.cursor++
	}
}

// unlist removes the entry at a place of the list.
func (g *members) unlist(at int) {
	g.table.records[g.order[at]].listed = false
	g.order = slices.Delete(g.order, at, at+1)
	if at < g.cursor {
		g.cursor--
	}
}

// some draws up to n alive or suspect members, excluding one.
func (g *members) some(r *node.Rand, n int, without uint32) []uint32 {
	var drawn []uint32
	for tries := 4*n + 4; tries > 0 && len(drawn) < n && len(g.order) > 0; tries-- {
		i := g.order[r.Int(len(g.order))]
		if i != without && !g.table.records[i].state.Gone() && !slices.Contains(drawn, i) {
			drawn = append(drawn, i)
		}
	}
	return drawn
}
