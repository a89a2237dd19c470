package checker

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// keepsHands judges that registers come to rest (T11): once everything is healed, none
// is granted again and again to those who find that they have no use for it. Eight times
// is what nobody needs: a take-over, a hand-over and a release are three. One that is
// never healed may hold nothing for long, and be right to try again.
func (c *Checker) keepsHands(now, bound time.Duration) {
	keys := slices.SortedFunc(maps.Keys(c.registers), func(a, b registerOf) int {
		return cmp.Or(cmp.Compare(a.group, b.group), a.job.Compare(b.job))
	})
	for _, key := range keys {
		g := c.registers[key]
		if g.granted < grantsKept {
			continue
		}
		if c.assume.Lame != nil && slices.ContainsFunc(g.grants[:], func(h grant) bool { return c.assume.Lame(h.node) }) {
			continue
		}
		first, last := &g.grants[g.granted%grantsKept], &g.grants[(g.granted-1)%grantsKept]
		if first.at > now-bound {
			c.violate("T11", Record{At: now, Node: last.node}, "job %v in %s was granted %d times since %v, to %s last: whoever takes it gives it up again",
				key.job, key.group, grantsKept, first.at, last.node)
		}
	}
}
