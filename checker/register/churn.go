package register

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"hyperscale/checker/history"
)

// KeepsHands judges that no register goes from hand to hand (T11) once everything is
// healed, granted again and again to nodes that have no use for it. Eight grants are too
// many: a take-over, a hand-over and a release are three. A node that is never healed
// may lose each lease, and is right to try again.
func (j *Judge) KeepsHands(now, bound time.Duration) {
	if quiet := j.nodes.Assume.Quiet; quiet > 0 {
		bound = min(bound, quiet)
	}
	keys := slices.SortedFunc(maps.Keys(j.registers), func(a, b name) int {
		return cmp.Or(cmp.Compare(a.group, b.group), a.job.Compare(b.job))
	})
	for _, key := range keys {
		g := j.registers[key]
		if g.granted < grantsKept {
			continue
		}
		if j.nodes.Assume.NeverHealed != nil && slices.ContainsFunc(g.grants[:], func(h grant) bool { return j.nodes.Assume.NeverHealed(h.node) }) {
			continue
		}
		first, last := &g.grants[g.granted%grantsKept], &g.grants[(g.granted-1)%grantsKept]
		if first.at > now-bound {
			j.log.Violate("T11", history.Record{At: now, Node: last.node}, "job %v in %s was granted %d times since %v, to %s last: each holder gives it up again",
				key.job, key.group, grantsKept, first.at, last.node)
		}
	}
}
