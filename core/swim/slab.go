package swim

// slab holds what few records have beside them, without gaps. A record says where its
// own stands.
type slab[T any] []aside[T]

// aside is a value, and the place of its record.
type aside[T any] struct {
	place uint32
	value *T
}

// of returns what a record has beside it; nil for nothing.
func (s slab[T]) of(r *record) *T {
	if r.rare == 0 {
		return nil
	}
	return s[r.rare-1].value
}

// add puts a value beside the record of a place.
func (s *slab[T]) add(records []record, i uint32, v *T) {
	*s = append(*s, aside[T]{i, v})
	records[i].rare = uint32(len(*s))
}

// drop takes the value of a place away. The last one takes its room.
func (s *slab[T]) drop(records []record, i uint32) {
	at, last := records[i].rare-1, len(*s)-1
	(*s)[at] = (*s)[last]
	records[(*s)[at].place].rare = at + 1
	(*s)[last] = aside[T]{}
	*s = (*s)[:last]
	records[i].rare = 0
}
