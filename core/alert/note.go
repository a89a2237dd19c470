package alert

import "cmp"

// Set is a set of alerts: bit i stands for ID i.
type Set uint32

// Has reports whether an alert is in the set.
func (s Set) Has(id ID) bool { return s>>id&1 != 0 }

// with returns the set with an alert, or without it.
func (s Set) with(id ID, in bool) Set {
	if in {
		return s | 1<<id
	}
	return s &^ (1 << id)
}

// Note is what the leaders of a group have reported: the alerts that are raised after so many
// changes in a term.
type Note struct {
	Term  uint64
	Count uint32
	Set   Set
}

// later says that a note replaces another one.
func (n Note) later(o Note) bool {
	return cmp.Or(cmp.Compare(n.Term, o.Term), cmp.Compare(n.Count, o.Count)) > 0
}
