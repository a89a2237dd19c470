package alert

import (
	"fmt"

	"hyperscale/core/node"
)

// Percent of lane HIGH at which it counts as full, and as no longer full.
const (
	highFull = 90
	highRoom = 75
)

// Post reads the mailbox of a node, whose state comes with each input.
type Post struct {
	told  uint32    // critical messages that were lost before the last Read
	lost  uint32    // until now
	worst node.Mail // since the last Read
	high  uint8     // at the last Read, in percent
}

// See takes the state that came with an input.
func (p *Post) See(m node.Mail) {
	p.lost = max(p.lost, m.Lost)
	p.worst.High, p.worst.Load = max(p.worst.High, m.High), max(p.worst.Load, m.Load)
}

// Read gives a board the readings since the last call. It returns the highest level of the
// entrance in that time.
func (p *Post) Read(b *Board, now node.Instant) (load uint8) {
	b.See(now, CriticalShed, Whether(p.lost > p.told))
	b.See(now, HighLane, Of(int(p.worst.High), highFull, highRoom))
	load, p.high = p.worst.Load, p.worst.High
	p.told, p.worst = p.lost, node.Mail{}
	return load
}

// Why says what was read of one of the two alerts.
func (p *Post) Why(id ID) string {
	if id == HighLane {
		return fmt.Sprintf("%d %% of the lane are full", p.high)
	}
	return fmt.Sprintf("%d critical messages have found no room since the start", p.lost)
}
