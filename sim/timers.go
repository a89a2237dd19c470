package sim

import "hyperscale/core/node"

// timer is one that is set. It stays known while its firing waits in the
// mailbox, so that a cancel still finds it there (NODE-2).
type timer struct {
	digest     uint64 // of the key; zero marks a free place
	generation uint64
	due        node.Instant
	key        node.TimerKey
	event      uint32 // zero once it fired and waits
}

// timerTable finds the timers of one node by their keys: open addressing,
// linear probing, no tombstones. A map would hash the key a second time.
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

// insert adds a timer whose key is not there.
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

// remove forgets a timer and closes the gap behind it. The pointer is dead.
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

// clear forgets all, keeping the memory.
func (t *timerTable) clear() {
	clear(t.places)
	t.count = 0
}
