package alert

import (
	"time"

	"hyperscale/core/node"
)

// Level is how loaded a node is, by how many of its signals are critical at once.
type Level uint8

// The levels.
const (
	Normal   Level = iota
	Degraded       // a signal is beyond its warning
	Limited        // a signal is critical
	Urgent         // two are
)

func (l Level) String() string {
	return [...]string{"normal", "degraded", "limited", "emergency"}[min(l, Urgent)]
}

// calmFor is how long signals must be below a level before it falls by one.
const calmFor = 10 * time.Second

// Load derives a node's level from its signals. It rises at once.
type Load struct {
	level Level
	since node.Instant // when the signals were last at the level, or it changed
}

// Level returns the level of the last Judge.
func (l *Load) Level() Level { return l.level }

// Judge takes how many signals are beyond their warning, and how many of these are critical. It
// says whether the level has changed.
func (l *Load) Judge(now node.Instant, warned, critical int) bool {
	worst := Normal
	switch {
	case critical > 1:
		worst = Urgent
	case critical == 1:
		worst = Limited
	case warned > 0:
		worst = Degraded
	}
	switch {
	case worst > l.level:
		l.level, l.since = worst, now
		return true
	case worst == l.level:
		l.since = now
	case now.Sub(l.since) >= calmFor:
		l.level, l.since = l.level-1, now
		return true
	}
	return false
}
