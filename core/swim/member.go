package swim

import (
	"slices"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// State is a member's state in this node's view. The first four are on the wire.
type State uint8

// The states; the package comment lists the legal steps.
const (
	Alive State = iota
	Suspect
	Dead
	Left
	Unknown
	Removed
)

func (s State) String() string {
	switch s {
	case Alive:
		return "alive"
	case Suspect:
		return "suspect"
	case Dead:
		return "dead"
	case Left:
		return "left"
	case Unknown:
		return "unknown"
	}
	return "removed"
}

// Gone reports that a member is out of routing.
func (s State) Gone() bool { return s == Dead || s == Left }

// rank orders states at one incarnation; DEAD and LEFT are both final, and the first of them
// stays.
func (s State) rank() uint64 { return uint64(min(s, Dead)) }

// Member is what a group knows of one of its nodes.
type Member struct {
	ID          node.ID
	Addr        node.Addr
	Role        node.Role
	Incarnation uint64 // the node's incarnation << 32, plus one for each refutation
	State       State
	By          node.ID // the accuser of the suspicion or of the death; empty if none
	App         []byte  // its latest state for the application: SetState
}

// Run returns the incarnation of the node, as in its node.Peer.
func (m *Member) Run() uint64 { return m.Incarnation >> 32 }

// record is a member, in little memory: in a simulated world ten thousand nodes have groups of
// ten thousand. Rare data is kept beside it.
type record struct {
	who         *Identity // nil: the place is free
	incarnation uint64
	state       State
	listed      bool   // it is in Group.order
	queued      bool   // it is in the buffer of news
	ahead       uint8  // how often others have raised its run since its own last word
	rare        uint32 // index + 1 in the slab of its state, 0 for none
}

// table finds records by name. Place 0 is this node.
type table struct {
	records []record
	index   []slot // open addressing; a power of two, at most half full
	free    []uint32
	names   *Names // where identities are kept
	bytes   int    // about what a list of all names takes
}

// slot is an entry of the index: a place + 1, 0 for none. Above it are the upper bits of the
// name's hash, so that a look-up seldom reads a record of another name.
type slot uint32

// placeBits is the size of the place in a slot; the other bits are the tag.
const placeBits = 20

// placesMax is the largest place that a slot can hold.
const placesMax = 1<<placeBits - 1

func slotOf(h uint64, place uint32) slot { return slot(h>>(32+placeBits)<<placeBits) | slot(place+1) }

// place returns the place + 1, 0 for none.
func (s slot) place() uint32 { return uint32(s) & placesMax }

// fits reports that the slot most likely belongs to a name with this hash.
func (s slot) fits(h uint64) bool { return uint64(s>>placeBits) == h>>(32+placeBits) }

func hashOf(id node.ID) uint64 { return node.MixString(1, string(id)) }

// batch is how many names one search looks up together.
const batch = 64

// lookup is the result of a batch: place + 1, 0 for unknown.
type lookup [batch]uint32

// findAll returns the places of the members in up to a batch of news. Each look-up reads three
// places of cold memory. A separate loop reads each of them for all names and does not branch
// on them, so that the processor waits once for many.
func (t *table) findAll(news []message.SwimNews, found *lookup) {
	var hashes [batch]uint64
	var first [batch]slot
	var named [batch]*Identity
	mask := uint64(len(t.index) - 1)
	for k := range news {
		hashes[k%batch] = hashOf(node.ID(news[k].Node))
	}
	for k := range news {
		first[k%batch] = t.index[hashes[k%batch]&mask]
	}
	for k := range news {
		h, s := hashes[k%batch], first[k%batch]
		for at := h; s != 0 && !s.fits(h); {
			at++
			s = t.index[at&mask]
		}
		found[k%batch] = s.place()
	}
	for k := range news {
		if i := found[k%batch]; i != 0 {
			named[k%batch] = t.records[i-1].who
		}
	}
	for k := range news {
		if named[k%batch] != nil && string(named[k%batch].ID) != news[k].Node {
			i, known := t.find(node.ID(news[k].Node))
			if found[k%batch] = 0; known {
				found[k%batch] = i + 1
			}
		}
	}
}

// find returns the place of a name.
func (t *table) find(id node.ID) (uint32, bool) {
	mask := uint64(len(t.index) - 1)
	h := hashOf(id)
	for at := h; len(t.index) > 0; at++ {
		s := t.index[at&mask]
		if s == 0 {
			break
		}
		if s.fits(h) && t.records[s.place()-1].who.ID == id {
			return s.place() - 1, true
		}
	}
	return 0, false
}

// add adds an unknown name.
func (t *table) add(who *Identity) uint32 {
	t.bytes += listed(who)
	var i uint32
	if n := len(t.free); n > 0 {
		i, t.free = t.free[n-1], t.free[:n-1]
		t.records[i] = record{who: who}
	} else {
		i = uint32(len(t.records))
		t.records = append(t.records, record{who: who})
	}
	if 2*len(t.records) > len(t.index) {
		t.rebuild(len(t.records))
	} else {
		t.place(i)
	}
	return i
}

func (t *table) place(i uint32) {
	mask := uint64(len(t.index) - 1)
	h := hashOf(t.records[i].who.ID)
	at := h
	for t.index[at&mask] != 0 {
		at++
	}
	t.index[at&mask] = slotOf(h, i)
}

// remove frees places; it costs as much as all members, and is rare.
func (t *table) remove(places []uint32) {
	for _, i := range places {
		t.bytes -= listed(t.records[i].who)
		t.records[i] = record{}
		t.free = append(t.free, i)
	}
	t.rebuild(len(t.records))
}

// reserve makes room for n more names.
func (t *table) reserve(n int) {
	t.records = slices.Grow(t.records, n)
	t.rebuild(len(t.records) + n)
}

func (t *table) rebuild(records int) {
	size := 16
	for size < 2*records {
		size *= 2
	}
	t.index = make([]slot, size)
	for i := range t.records {
		if t.records[i].who != nil {
			t.place(uint32(i))
		}
	}
}

// size returns the number of names.
func (t *table) size() int { return len(t.records) - len(t.free) }

// portion returns a record's part of the sum that compares two lists.
func (r *record) portion() uint64 {
	if r.who == nil || r.state.Gone() {
		return 0
	}
	return node.Mix(node.Mix(hashOf(r.who.ID), r.incarnation), r.state.rank())
}
