package level

import (
	"fmt"
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/message/record"
	"hyperscale/core/node"
)

// Levels, by what they let a group write.
const (
	Takeovers = 1 // records of jobs count how often a gate took them over
)

// Level is the level of a group, as one member knows it.
type Level struct {
	own    uint16 // on this member's disk
	target uint16 // what its next mark says
	said   []uint16
	old    []bool         // members that are too old
	told   []node.Instant // by member: when this one last sent it the level
	self   int
}

// Among returns the lowest level, of one of n members.
func Among(self, n int) Level {
	return Level{self: self, said: make([]uint16, n), old: make([]bool, n), told: make([]node.Instant, n)}
}

// Own returns the level that is on the disk.
func (l *Level) Own() uint16 { return l.own }

// Want notes a level that the next mark says, and reports whether it is a higher one.
func (l *Level) Want(to uint16) bool {
	if to <= l.own {
		return false
	}
	l.target = max(l.target, to)
	return true
}

// Target returns the level that the next mark says.
func (l *Level) Target() uint16 { return l.target }

// Rise notes that a mark is on the disk, and reports whether the level rose.
func (l *Level) Rise(at uint16) bool {
	if at <= l.own {
		return false
	}
	l.own = at
	return true
}

// Note notes what another member says.
func (l *Level) Note(from int, at uint16) { l.said[from] = max(l.said[from], at) }

// Forget forgets what a member said: it has started again, maybe on another disk.
func (l *Level) Forget(i int) { l.said[i], l.told[i] = 0, 0 }

// Due reports whether to tell a member of the level: it has not said that it has it, and the last time
// is so long ago.
func (l *Level) Due(i int, now node.Instant, every time.Duration) bool {
	if l.said[i] >= l.own || l.told[i] != 0 && now.Sub(l.told[i]) < every {
		return false
	}
	l.told[i] = now
	return true
}

// Said returns what a member said last.
func (l *Level) Said(i int) uint16 {
	if i == l.self {
		return l.own
	}
	return l.said[i]
}

// Others counts the other members that have a level.
func (l *Level) Others(level uint16) (n int) {
	for i, said := range l.said {
		if i != l.self && said >= level {
			n++
		}
	}
	return n
}

// Older notes whether a member is too old, and reports whether that is news.
func (l *Level) Older(i int, is bool) bool {
	was := l.old[i]
	l.old[i] = is
	return is && !was
}

// Member is what a member tells of its version.
type Member struct {
	Addr  node.Addr
	Minor uint16
	Heard bool
}

// HeldBack returns why members cannot have a level: none, they can.
func HeldBack(members []Member, level uint16) (why []string) {
	for _, m := range members {
		switch {
		case !m.Heard:
			why = append(why, fmt.Sprintf("%s is not heard: start it", m.Addr))
		case m.Minor < level:
			why = append(why, fmt.Sprintf("%s is of version %s: start version %s there", m.Addr, message.VersionText(m.Minor), message.VersionText(level)))
		}
	}
	return why
}

// guard is what a mark says beside the members.
func guard(level uint16) string {
	return "(this disk needs hyperscale of protocol version " + message.VersionText(level) + " or newer)"
}

// Guarded returns a mark as it is written at its level: LEVEL-3.
func Guarded(m record.Member) *record.Member {
	if m.Level > 0 {
		m.Members = append(slices.Clone(m.Members), guard(m.Level))
		m.Generations = append(slices.Clone(m.Generations), 0)
	}
	return &m
}

// Unguard takes the guard off a mark as it was read.
func Unguard(m *record.Member) {
	if n := len(m.Members) - 1; m.Level > 0 && n >= 0 && m.Members[n] == guard(m.Level) && len(m.Generations) == n+1 {
		m.Members, m.Generations = m.Members[:n], m.Generations[:n]
	}
}

// Open returns the level of a mark, and takes its guard off.
func (l *Level) Open(m *record.Member) uint16 {
	Unguard(m)
	l.own, l.target = m.Level, m.Level
	return m.Level
}
