package admission

import (
	"time"

	"hyperscale/core/node"
)

// others is the place of the record that all sources share for which the table has no room.
const others = 0

// source is what the door knows about one source of requests.
type source struct {
	key          string
	windows      [Operations]window
	places       int // requests that wait
	used         node.Instant
	next         node.Instant // the earliest appointment of its next refused request
	older, newer int32        // in the order of use; others ends the list on both sides
}

// sources is a table of at most max records and others. The least recently used one makes room
// if it is idle and holds no place.
type sources struct {
	max    int
	idle   time.Duration
	all    []source // others, then records in use and free ones
	free   []int32
	byKey  map[string]int32
	active int // records that hold places
}

func newSources(most int, idle time.Duration) *sources {
	return &sources{max: most, idle: idle, all: make([]source, 1), byKey: map[string]int32{}}
}

// of returns the record of a source.
func (s *sources) of(now node.Instant, key string) int32 {
	i, known := s.byKey[key]
	if known {
		s.unlink(i)
	} else {
		s.sweep(now)
		if i = s.room(); i == others {
			return others
		}
		s.all[i] = source{key: key}
		s.byKey[key] = i
	}
	s.all[i].used = now
	s.link(i)
	return i
}

// sweep frees up to two idle records: the table shrinks faster than it grows. A record that holds
// a place is in use.
func (s *sources) sweep(now node.Instant) {
	for range 2 {
		i := s.all[others].newer
		oldest := &s.all[i]
		if i == others || now.Sub(oldest.used) < s.idle {
			return
		}
		s.unlink(i)
		if oldest.places > 0 {
			oldest.used = now
			s.link(i)
			continue
		}
		delete(s.byKey, oldest.key)
		*oldest = source{}
		s.free = append(s.free, i)
	}
}

// room returns a free record, or others.
func (s *sources) room() int32 {
	if n := len(s.free); n > 0 {
		i := s.free[n-1]
		s.free = s.free[:n-1]
		return i
	}
	if len(s.byKey) >= s.max {
		return others
	}
	s.all = append(s.all, source{})
	return int32(len(s.all) - 1)
}

// link makes a record the most recently used one.
func (s *sources) link(i int32) {
	newest := s.all[others].older
	s.all[i].older, s.all[i].newer = newest, others
	s.all[newest].newer, s.all[others].older = i, i
}

func (s *sources) unlink(i int32) {
	r := &s.all[i]
	s.all[r.older].newer, s.all[r.newer].older = r.newer, r.older
}

// hold takes a place for a source.
func (s *sources) hold(i int32) {
	if s.all[i].places++; s.all[i].places == 1 {
		s.active++
	}
}

// release returns a place.
func (s *sources) release(i int32) {
	if s.all[i].places--; s.all[i].places == 0 {
		s.active--
	}
}

// share returns how many of bound places one source may hold: with n sources that hold some,
// bound/(n+1), so that one more finds as many free.
func (s *sources) share(bound int) int { return max(1, bound/(s.active+1)) }
