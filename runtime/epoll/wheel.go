package epoll

import (
	"math/bits"
	"time"
)

// Wheel is a hierarchical timing wheel of one-millisecond ticks: set and cancel cost the
// same however many timers are armed. A timer is an index that the user chooses, such as
// a virtual user's number, and is armed for at most one deadline. Times are nanoseconds
// since an epoch of the user's choice, never negative.
//
//	level 0   256 slots of 1 ms      the ticks of the current 256 ms
//	level 1   256 slots of 256 ms    the rest of the current 65 s
//	level 2   256 slots of 65 s      the rest of the current 4.6 h
//	level 3   256 slots of 4.6 h     the rest of the current 49 days
//	far       one list               beyond
//
// A timer is on the level of the highest byte in which its tick differs from the current one.
// When the current tick enters a slot of a higher level, that slot's timers move down. Timers
// of one tick fire in no particular order.
type Wheel struct {
	tick   int64 // the last tick that was entered
	armed  int
	timers []timer
	heads  [slotCount]int32
	used   [levels][slots / 64]uint64 // bit set: the slot is not empty
}

type timer struct {
	tick       int64
	next, prev int32
	slot       int32 // notArmed, or where it stands
}

const (
	slotBits  = 8
	slots     = 1 << slotBits
	levels    = 4
	slotFar   = slots * levels
	slotDue   = slotFar + 1
	slotCount = slotDue + 1

	none     int32 = -1
	notArmed int32 = -1
)

// NewWheel makes a wheel whose present is now.
func NewWheel(now int64) *Wheel {
	w := &Wheel{tick: now / int64(time.Millisecond)}
	for i := range w.heads {
		w.heads[i] = none
	}
	return w
}

// Armed is the number of armed timers.
func (w *Wheel) Armed() int { return w.armed }

// IsArmed reports whether a timer is armed.
func (w *Wheel) IsArmed(id int32) bool {
	return int(id) < len(w.timers) && w.timers[id].slot != notArmed
}

// Set arms a timer, replacing its deadline if it had one. A deadline in the past fires
// at the next Expire. The table grows to the largest id ever set.
func (w *Wheel) Set(id int32, deadline int64) {
	for int(id) >= len(w.timers) {
		w.timers = append(w.timers, timer{slot: notArmed})
	}
	t := &w.timers[id]
	if t.slot != notArmed {
		w.unlink(id)
	}
	t.tick = (deadline + int64(time.Millisecond) - 1) / int64(time.Millisecond)
	w.link(id)
}

// Cancel disarms a timer; it does nothing if that is not armed.
func (w *Wheel) Cancel(id int32) {
	if w.IsArmed(id) {
		w.unlink(id)
	}
}

// Expire disarms and returns one timer whose deadline has passed. Call it until it returns
// false: a timer that the caller cancels or sets again in between does not fire.
func (w *Wheel) Expire(now int64) (id int32, ok bool) {
	target := now / int64(time.Millisecond)
	for {
		if id := w.heads[slotDue]; id != none {
			w.unlink(id)
			return id, true
		}
		if id := w.heads[w.tick&(slots-1)]; id != none {
			w.unlink(id)
			return id, true
		}
		if w.tick >= target {
			return 0, false
		}
		w.advance(target)
	}
}

// Timeout is how long a wait may last: until the next timer, or until timers must move
// down a level, whichever is first. 0 means that one is due, Forever that none is armed.
func (w *Wheel) Timeout(now int64) time.Duration {
	if w.armed == 0 {
		return Forever
	}
	if w.heads[slotDue] != none || w.heads[w.tick&(slots-1)] != none {
		return 0
	}
	return max(0, time.Duration(w.nextTick()*int64(time.Millisecond)-now))
}

// nextTick is the first tick at which something happens, given that nothing is due.
func (w *Wheel) nextTick() int64 {
	for level := range levels {
		shift := level * slotBits
		current := int(w.tick>>shift) & (slots - 1)
		if slot := w.firstAfter(level, current); slot >= 0 {
			return (w.tick>>shift&^(slots-1) | int64(slot)) << shift
		}
	}
	return (w.tick>>(levels*slotBits) + 1) << (levels * slotBits)
}

// firstAfter is the first used slot of a level beyond the given one, or -1.
func (w *Wheel) firstAfter(level, slot int) int {
	slot++
	for word := slot / 64; word < slots/64; word++ {
		mask := w.used[level][word]
		if word == slot/64 {
			mask &= ^uint64(0) << (slot % 64)
		}
		if mask != 0 {
			return word*64 + bits.TrailingZeros64(mask)
		}
	}
	return -1
}

// advance enters the next tick at which something happens, but none beyond target.
func (w *Wheel) advance(target int64) {
	if w.armed == 0 {
		w.tick = target
		return
	}
	next := w.nextTick()
	if next > target {
		w.tick = target
		return
	}
	before := w.tick
	w.tick = next
	if before>>(levels*slotBits) != next>>(levels*slotBits) {
		w.replace(slotFar)
	}
	for level := levels - 1; level > 0; level-- {
		if before>>(level*slotBits) != next>>(level*slotBits) {
			w.replace(int32(level*slots + int(next>>(level*slotBits))&(slots-1)))
		}
	}
}

// replace takes a slot's timers out and puts each where it now belongs.
func (w *Wheel) replace(slot int32) {
	id := w.heads[slot]
	w.heads[slot] = none
	w.mark(slot, false)
	for id != none {
		next := w.timers[id].next
		w.armed--
		w.link(id)
		id = next
	}
}

func (w *Wheel) link(id int32) {
	t := &w.timers[id]
	slot := w.place(t.tick)
	head := w.heads[slot]
	t.slot, t.prev, t.next = slot, none, head
	if head != none {
		w.timers[head].prev = id
	} else {
		w.mark(slot, true)
	}
	w.heads[slot] = id
	w.armed++
}

func (w *Wheel) place(tick int64) int32 {
	if tick <= w.tick {
		return slotDue
	}
	level := (63 - bits.LeadingZeros64(uint64(tick^w.tick))) / slotBits
	if level >= levels {
		return slotFar
	}
	return int32(level*slots + int(tick>>(level*slotBits))&(slots-1))
}

func (w *Wheel) unlink(id int32) {
	t := &w.timers[id]
	if t.prev != none {
		w.timers[t.prev].next = t.next
	} else {
		w.heads[t.slot] = t.next
		w.mark(t.slot, t.next != none)
	}
	if t.next != none {
		w.timers[t.next].prev = t.prev
	}
	t.slot = notArmed
	w.armed--
}

func (w *Wheel) mark(slot int32, on bool) {
	if slot >= slotFar {
		return
	}
	word := &w.used[slot/slots][slot%slots/64]
	if on {
		*word |= 1 << (slot % 64)
	} else {
		*word &^= 1 << (slot % 64)
	}
}
