package barrier

import "slices"

// Report is what a process says of its waits at a barrier. Of two the one with the higher Number
// is newer.
type Report struct {
	Number  uint64
	Arrived uint64 // waits, in all
	Left    uint64 // of those, the ones whose time was over before they were released
}

// Answer is what the manager says to a report. Of two the one with the higher figures is newer.
type Answer struct {
	Number   uint64 // of the newest report that the manager had read when it released
	Released uint64 // waits of this process, in all
}

// End is how a wait ended.
type End struct {
	ID       uint64
	Released bool // else it left
}

// Waits are those of one process at one barrier.
type Waits struct {
	told     Report
	news     bool // it is not all
	arrived  uint64
	left     uint64
	released uint64
	waits    []wait // in the order of their arrival
}

type wait struct {
	id     uint64
	leaves uint64 // number of the first report that counts it among those that left; 0: it waits
	gone   bool   // it has ended, and the manager does not know
}

// Arrive begins a wait.
func (q *Waits) Arrive(id uint64) {
	q.arrived++
	q.news = true
	q.waits = append(q.waits, wait{id: id})
}

// Leave asks that a wait ends: its time is over. It ends by an answer that has read that.
func (q *Waits) Leave(id uint64) {
	for i := range q.waits {
		if w := &q.waits[i]; w.id == id && w.leaves == 0 {
			w.leaves = q.told.Number + 1
			q.left++
			q.news = true
		}
	}
}

// Abandon ends a wait without an answer. No later answer ends it again.
func (q *Waits) Abandon(id uint64) {
	q.Leave(id)
	for i := range q.waits {
		if w := &q.waits[i]; w.id == id {
			w.gone = true
		}
	}
}

// Report returns what to tell the manager; not ok: there is nothing new.
func (q *Waits) Report() (r Report, ok bool) {
	if !q.news {
		return q.told, false
	}
	q.news = false
	q.told = Report{Number: q.told.Number + 1, Arrived: q.arrived, Left: q.left}
	return q.told, true
}

// Take returns the waits that end by an answer. Those that still wait are released first, then
// those that ask to leave: for the manager all of them waited.
func (q *Waits) Take(a Answer) (ends []End) {
	for _, of := range []func(wait) bool{
		func(w wait) bool { return w.leaves == 0 },
		func(w wait) bool { return !w.gone },
		func(wait) bool { return true },
	} {
		for q.released < a.Released {
			at := slices.IndexFunc(q.waits, of)
			if at < 0 {
				break
			}
			w := q.waits[at]
			q.waits = slices.Delete(q.waits, at, at+1)
			q.released++
			if w.leaves > 0 {
				q.left--
				q.news = true // it counts among the released ones
			}
			if !w.gone {
				ends = append(ends, End{ID: w.id, Released: true})
			}
		}
	}
	q.waits = slices.DeleteFunc(q.waits, func(w wait) bool {
		over := w.leaves > 0 && w.leaves <= a.Number
		if over && !w.gone {
			ends = append(ends, End{ID: w.id})
		}
		return over
	})
	return ends
}
