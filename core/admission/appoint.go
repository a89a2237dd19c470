package admission

import (
	"time"

	"hyperscale/core/node"
)

// Appoint returns when a refused request of a source may come back: each at a time of its own, as
// far from the one before as the node takes for a request. Without that, all that a burst left over
// comes back at once, is refused again, and so on. A source that has an appointment ahead gets the
// next one at the pace of its share, and moves no appointment of others.
func (d *Door) Appoint(now node.Instant, class node.Priority, source string) time.Duration {
	s := &d.sources.all[d.sources.of(now, source)]
	first, last := now.Add(max(d.wait(class), retryMin)), now.Add(retryMax)
	spacing := d.mean[class] / time.Duration(d.config.Workers)
	at := s.next
	if at <= first {
		at = min(max(first, d.line), last)
		d.line = at.Add(spacing)
	}
	at = min(at, last)
	s.next = at.Add(spacing * time.Duration(d.sources.active+1))
	return at.Sub(now)
}
