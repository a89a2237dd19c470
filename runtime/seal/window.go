package seal

// windowBits is how many counters below the highest one a window tells apart. A sender counts the
// datagrams to all peers together: at 10,000 a second, one may overtake another by 0.8 s.
const windowBits = 8192

// window remembers which counters of a sender arrived: RFC 6479, as a ring of words. The zero
// window has seen none.
type window struct {
	next  uint64 // the highest counter that arrived, plus one
	words [windowBits / 64]uint64
}

// fresh says whether a counter neither arrived nor is too old to tell.
func (w *window) fresh(counter uint64) bool {
	switch {
	case counter == 1<<64-1:
		return false // plus one it would be zero
	case counter >= w.next:
		return true
	case w.next-counter > windowBits-64:
		return false // its word may hold a newer counter
	}
	return w.words[counter/64%uint64(len(w.words))]&(1<<(counter%64)) == 0
}

// mark notes that a fresh counter arrived.
func (w *window) mark(counter uint64) {
	if counter >= w.next {
		// The words between the last and this one begin anew.
		first, last := (w.next+63)/64, counter/64
		if last >= first && last-first >= uint64(len(w.words)) {
			first = last - uint64(len(w.words)) + 1
		}
		for i := first; i <= last; i++ {
			w.words[i%uint64(len(w.words))] = 0
		}
		w.next = counter + 1
	}
	w.words[counter/64%uint64(len(w.words))] |= 1 << (counter % 64)
}
