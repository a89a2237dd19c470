package swim

import (
	"fmt"
	"slices"
	"testing"

	"hyperscale/core/node"

	"pgregory.net/rapid"
)

// Probes visit each member once per iteration, while others join and leave. The model keeps the
// members that the iteration still has to visit.
func TestOrderVisitsEachMemberOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := node.NewRand(rapid.Uint64().Draw(t, "seed"), "self", node.PurposeProbe)
		m := &New(func() Config { c := Default(); c.Group = "group"; return c }()).members
		m.insert(&Identity{ID: "self"}, firstOf(1), Alive)
		var listed, left []uint32 // of all, and of this iteration
		drop := func(all []uint32, i uint32) []uint32 {
			return slices.DeleteFunc(all, func(o uint32) bool { return o == i })
		}
		gone := func(i uint32) bool { return m.table.records[i].state.Gone() }
		t.Repeat(map[string]func(*rapid.T){
			"join": func(t *rapid.T) {
				if len(m.table.records) > 12 {
					return
				}
				i := m.insert(&Identity{ID: node.ID(fmt.Sprint(len(m.table.records)))}, firstOf(1), Alive)
				m.list(r, i)
				m.list(r, i) // a repeated call has no effect
				listed = append(listed, i)
				if at := slices.Index(m.order, i); at >= m.cursor {
					left = append(left, i)
				}
			},
			"go": func(t *rapid.T) {
				if len(listed) > 0 {
					i := rapid.SampledFrom(listed).Draw(t, "who")
					m.set(i, firstOf(1), Dead)
				}
			},
			"come back": func(t *rapid.T) {
				if len(m.table.records) < 2 {
					return
				}
				i := uint32(rapid.IntRange(1, len(m.table.records)-1).Draw(t, "who"))
				m.set(i, firstOf(2), Alive)
				if m.list(r, i); !slices.Contains(listed, i) {
					listed = append(listed, i)
					if at := slices.Index(m.order, i); at >= m.cursor {
						left = append(left, i)
					}
				}
			},
			"reap": func(t *rapid.T) {
				if at := slices.IndexFunc(m.order, gone); at >= 0 {
					i := m.order[at]
					m.unlist(at)
					listed, left = drop(listed, i), drop(left, i)
				}
			},
			"probe": func(t *rapid.T) {
				living := slices.ContainsFunc(listed, func(i uint32) bool { return !gone(i) })
				i, ok := m.next(r)
				if ok != living || ok && gone(i) {
					t.Fatalf("the next is %d, %v, of %v", i, ok, listed)
				}
				if ok && !slices.Contains(left, i) {
					if slices.ContainsFunc(left, func(i uint32) bool { return !gone(i) }) {
						t.Fatalf("%d is visited again before %v", i, left)
					}
					left = slices.Clone(listed)
				}
				left = drop(left, i)
				listed = slices.DeleteFunc(listed, func(i uint32) bool { return !slices.Contains(m.order, i) }) // a probe skips gone members
				left = slices.DeleteFunc(left, func(i uint32) bool { return !slices.Contains(m.order, i) })
			},
			"": func(t *rapid.T) {
				order := slices.Sorted(slices.Values(m.order))
				slices.Sort(listed)
				if !slices.Equal(order, listed) {
					t.Fatalf("listed are %v, the order has %v", listed, order)
				}
				for i := range m.table.records {
					if m.table.records[i].listed != slices.Contains(order, uint32(i)) {
						t.Fatalf("%d says that it is listed: %v; the order has %v", i, m.table.records[i].listed, order)
					}
				}
				for _, i := range m.some(r, 3, 1) {
					if i == 1 || gone(i) || !slices.Contains(listed, i) {
						t.Fatalf("drawn is %d of %v", i, listed)
					}
				}
			},
		})
	})
}
