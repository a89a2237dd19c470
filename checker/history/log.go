package history

import (
	"fmt"
	"time"

	"hyperscale/core/node"
)

// Violation is one broken invariant.
type Violation struct {
	Invariant string // "T3"
	At        time.Duration
	Node      node.ID
	Detail    string
}

func (v Violation) String() string {
	return fmt.Sprintf("%s broken at %v on %s: %s", v.Invariant, v.At, v.Node, v.Detail)
}

// Undecided is the Invariant of what could not be judged: no broken invariant, but
// no history that was proved either.
const Undecided = "undecided"

// violationsMax bounds the violations that a log keeps: the first ones tell the cause.
const violationsMax = 20

// Log collects the violations that judges find.
type Log struct {
	first []Violation
	count int

	Excuse func(Violation) bool // says that a violation is one that this history may show; nil: none is
}

// Violate adds a violation that the record shows.
func (l *Log) Violate(invariant string, r Record, format string, args ...any) {
	v := Violation{Invariant: invariant, At: r.At, Node: r.Node}
	if l.Excuse != nil || len(l.first) < violationsMax {
		v.Detail = fmt.Sprintf(format, args...)
	}
	if l.Excuse != nil && l.Excuse(v) {
		return
	}
	if l.count++; len(l.first) < violationsMax {
		l.first = append(l.first, v)
	}
}

// First returns the first violations, in order.
func (l *Log) First() []Violation { return l.first }

// Count returns the number of all violations, those that the log dropped included.
func (l *Log) Count() int { return l.count }
