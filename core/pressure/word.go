package pressure

import (
	"time"

	"hyperscale/core/node"
)

// Lifetime is how long a word counts that is not repeated: two lost answers of one a second.
const Lifetime = 3 * time.Second

// Word is the interval that one node told this one. It belongs to one stream: another stream, also to
// the same node, begins without one.
type Word struct {
	every time.Duration
	at    node.Instant
}

// Hear takes the node's newest word.
func (w *Word) Hear(now node.Instant, every time.Duration) {
	w.every, w.at = min(max(0, every), Most), now
}

// Every is the interval that the node asks for now; zero: as this one likes.
func (w *Word) Every(now node.Instant) time.Duration {
	if now.Sub(w.at) >= Lifetime {
		return 0
	}
	return w.every
}

// Turns is how many turns of a base pass from one report to the next; at least one. A report takes
// the turn whose number and place are a multiple of it together, so that peers that began at once do
// not report at once.
func Turns(every, base time.Duration) uint64 {
	return uint64(max(1, (every+base-1)/base))
}

// Due says whether a report is due in a turn. The last one was in another turn; place tells peers
// apart.
func Due(turn, last, place, turns uint64) bool {
	return turn-last >= turns || (turn+place)%turns == 0
}
