package sim

import (
	"slices"
	"time"

	"hyperscale/core/node"
)

// timer is a timer that is set. The table keeps it while its firing waits in the mailbox, so
// that a cancel still finds it (NODE-2).
type timer struct {
	digest     uint64 // of the key; zero marks a free place
	generation uint64
	due        node.Instant
	key        node.TimerKey
	event      uint32 // zero while its firing waits in the mailbox
}

// timerTable finds the timers of one node by their keys: open addressing, linear probing, no
// tombstones. A map would hash the key a second time.
type timerTable struct {
	places []timer // a power of two
	count  int
}

func keyDigest(k *node.TimerKey) uint64 { return k.Digest() | 1 }

// find returns the timer of a key, or nil.
func (t *timerTable) find(k *node.TimerKey, digest uint64) *timer {
	if t.count == 0 {
		return nil
	}
	mask := uint64(len(t.places) - 1)
	for i := digest >> 20 & mask; t.places[i].digest != 0; i = (i + 1) & mask {
		if p := &t.places[i]; p.digest == digest && p.key == *k {
			return p
		}
	}
	return nil
}

// fired returns the timer that an event of the queue belongs to.
func (t *timerTable) fired(digest, generation uint64) *timer {
	mask := uint64(len(t.places) - 1)
	for i := digest >> 20 & mask; ; i = (i + 1) & mask {
		p := &t.places[i]
		if p.digest == 0 {
			node.Bug("sim: a timer fired that is not set: digest %x generation %d", digest, generation)
		}
		if p.digest == digest && p.generation == generation {
			return p
		}
	}
}

// insert adds a timer whose key is not in the table.
func (t *timerTable) insert(digest uint64) *timer {
	if 4*(t.count+1) > 3*len(t.places) {
		t.grow()
	}
	t.count++
	mask := uint64(len(t.places) - 1)
	i := digest >> 20 & mask
	for t.places[i].digest != 0 {
		i = (i + 1) & mask
	}
	t.places[i].digest = digest
	return &t.places[i]
}

func (t *timerTable) grow() {
	old := t.places
	t.places, t.count = make([]timer, max(8, 2*len(old))), 0
	for i := range old {
		if old[i].digest != 0 {
			*t.insert(old[i].digest) = old[i]
		}
	}
}

// remove removes a timer and closes the gap after it. The pointer is invalid afterwards.
func (t *timerTable) remove(digest, generation uint64) {
	mask := uint64(len(t.places) - 1)
	i := digest >> 20 & mask
	for t.places[i].digest != digest || t.places[i].generation != generation {
		if t.places[i].digest == 0 {
			node.Bug("sim: a timer is removed that is not set: digest %x generation %d", digest, generation)
		}
		i = (i + 1) & mask
	}
	for j := (i + 1) & mask; t.places[j].digest != 0; j = (j + 1) & mask {
		home := t.places[j].digest >> 20 & mask
		if (j-home)&mask >= (j-i)&mask {
			t.places[i] = t.places[j]
			i = j
		}
	}
	t.places[i].digest = 0
	t.count--
}

// clear removes all timers and keeps the memory.
func (t *timerTable) clear() {
	clear(t.places)
	t.count = 0
}

const million = 1_000_000

// ClockStart is what clocks read when a world begins, without their offsets.
const ClockStart = time.Hour

// DriftBound is the drift that protocols rely on, in parts per million: one in a hundred.
const DriftBound = 10_000

// driftBound is the largest drift of any clock, in parts per million: a tenth.
const driftBound = 100_000

// clock is a node's clock: it starts at an offset and drifts.
type clock struct {
	since time.Duration // world time at which ppm last changed
	local node.Instant  // reading at that time
	ppm   int64
}

// scale returns d * num / den rounded down, without overflow for num and den
// near a million.
func scale(d time.Duration, num, den int64) time.Duration {
	n := int64(d)
	return time.Duration(n/den*num + n%den*num/den)
}

// at reads the clock at a time of the world.
func (c *clock) at(now time.Duration) node.Instant {
	passed := now - c.since
	if c.ppm != 0 {
		passed = scale(passed, million+c.ppm, million)
	}
	return c.local.Add(passed)
}

// when returns the first time of the world, not before now, at which the clock shows i or
// later.
func (c *clock) when(i node.Instant, now time.Duration) time.Duration {
	d := i.Sub(c.local)
	if c.ppm != 0 {
		d = scale(d, million, million+c.ppm)
	}
	t := max(now, c.since+d)
	for c.at(t) < i {
		t++
	}
	return t
}

// bend changes the drift from now on. The reading does not jump.
func (c *clock) bend(now time.Duration, ppm int64) {
	c.local, c.since, c.ppm = c.at(now), now, ppm
}

// arm puts a timer into the queue; its sequence there is its generation.
func (p *process) arm(t *timer, at time.Duration) {
	i, e := p.w.queue.add(at, eventTimer)
	e.node, e.word = p.index, t.digest
	t.event, t.generation = i, e.sequence
	if p.bars.has(barAimed) {
		p.look.lead(t, at)
	}
}

// rearm moves the events of all timers to the times that the clock now gives, in their old
// order.
func (p *process) rearm() {
	set := p.armed()
	for _, t := range set {
		p.w.queue.cancel(t.event)
		p.arm(t, p.clock.when(t.due, p.w.now))
	}
}

// armed returns the timers that wait in the queue, in the order of their firing.
func (p *process) armed() []*timer {
	var set []*timer
	for i := range p.timers.places {
		if t := &p.timers.places[i]; t.digest != 0 && t.event != 0 {
			set = append(set, t)
		}
	}
	slices.SortFunc(set, func(a, b *timer) int {
		if a.due != b.due {
			return int(max(-1, min(1, a.due-b.due)))
		}
		if a.generation < b.generation {
			return -1
		}
		return 1
	})
	return set
}

// ending counts the set timers that wait for an end, by what ends (node.TimerKey.Ends).
func (t *timerTable) ending() map[string]int {
	var found map[string]int
	for i := range t.places {
		p := &t.places[i]
		if p.digest == 0 {
			continue
		}
		if of := p.key.Ends(); of != "" {
			if found == nil {
				found = map[string]int{}
			}
			found[of]++
		}
	}
	return found
}
