package metastable

import "time"

// Row is a loop under one trigger: an outcome for each depth and length.
type Row struct {
	Loop, Trigger string
	Depths        []int
	Lengths       []time.Duration
	With, Without [][]Outcome // by depth, then by length
}

// Grid plays all cells of these loops and triggers; an empty name means all. progress gets the
// number of the cells that are done.
func Grid(loop, trigger string, progress func(done int)) []Row {
	var all []Row
	done := 0
	for _, l := range Loops() {
		for _, t := range Triggers() {
			if loop != "" && l.Name != loop || trigger != "" && t != trigger || l.ask == nil && t == Spike {
				continue // workers renew as often as they renew: there is no spike
			}
			r := Row{Loop: l.Name, Trigger: t, Depths: depths(t), Lengths: lengths()}
			for _, d := range r.Depths {
				var with, without []Outcome
				for _, length := range r.Lengths {
					c := Cell{Loop: l.Name, Trigger: t, Depth: d, Length: length, Guards: true}
					with = append(with, Play(c))
					c.Guards = false
					without = append(without, Play(c))
					done += 2
					progress(done)
				}
				r.With, r.Without = append(r.With, with), append(r.Without, without)
			}
			all = append(all, r)
		}
	}
	return all
}

// borderWithin is how exactly Border finds a length.
const borderWithin = 100 * time.Millisecond

// Border bisects the longest trigger of a depth, below most, after which a cell recovers within
// its bound. Zero means that none does; most that all do.
func Border(c Cell, most time.Duration) time.Duration {
	good := func(d time.Duration) bool {
		c.Length = d
		o := Play(c)
		return o.Good()
	}
	low, high := time.Duration(0), most
	if good(most) {
		return most
	}
	for high-low > borderWithin {
		middle := (low + high) / 2
		if good(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low.Truncate(borderWithin)
}

// Count returns how many cells of rows recover within their bounds, of how many.
func Count(rows []Row, guards bool) (good, all int) {
	for _, r := range rows {
		cells := r.Without
		if guards {
			cells = r.With
		}
		for _, line := range cells {
			for i := range line {
				all++
				if line[i].Good() {
					good++
				}
			}
		}
	}
	return good, all
}
