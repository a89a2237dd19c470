package swim

import "hyperscale/core/node"

// slab holds values of few records, without gaps. A record has the index of its own.
type slab[T any] []aside[T]

// aside is a value, and the place of its record.
type aside[T any] struct {
	place uint32
	value *T
}

// of returns a record's value; nil for none.
func (s slab[T]) of(r *record) *T {
	if r.rare == 0 {
		return nil
	}
	return s[r.rare-1].value
}

// add adds a value for the record of a place, which has none.
func (s *slab[T]) add(records []record, i uint32, v *T) {
	if records[i].rare != 0 {
		node.Bug("swim: %s has a suspicion or a tombstone already", records[i].who.ID)
	}
	*s = append(*s, aside[T]{i, v})
	records[i].rare = uint32(len(*s))
}

// drop removes the value of a place. The last value takes its index.
func (s *slab[T]) drop(records []record, i uint32) {
	at, last := records[i].rare-1, len(*s)-1
	(*s)[at] = (*s)[last]
	records[(*s)[at].place].rare = at + 1
	(*s)[last] = aside[T]{}
	*s = (*s)[:last]
	records[i].rare = 0
}
