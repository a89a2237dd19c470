package swim

import (
	"slices"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// State is how a member is seen from here. The first four are on the wire.
type State uint8

// The states; legal steps are those of the package's comment.
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

// Gone says that a member is out of routing.
func (s State) Gone() bool { return s == Dead || s == Left }

// rank orders states at one incarnation; DEAD and LEFT are both ends, and the
// first of them stays.
func (s State) rank() uint64 { return uint64(min(s, Dead)) }

// Member is what a group knows of one of its nodes.
type Member struct {
	ID          node.ID
	Addr        node.Addr
	Role        node.Role
	Incarnation uint64 // the node's << 32, raised by each refutation
	State       State
	By          node.ID // who raised the suspicion, or the death that followed; empty if nobody
	App         []byte  // what it said of itself last: SetState
}

// Run returns the incarnation of the node, as its peers see it in node.Peer.
func (m *Member) Run() uint64 { return m.Incarnation >> 32 }

// record is a member, small: a group of ten thousand has ten thousand groups of
// ten thousand in a simulated world. What is rare is kept beside it.
type record struct {
	who         *Identity // nil: the place is free
	incarnation uint64
	state       State
	listed      bool   // it stands in Group.order
	queued      bool   // it stands in the buffer of news
	rare        uint32 // what stands beside: place + 1 in the slab of its state, 0 for nothing
}

// table finds records by name. Place 0 is this node.
type table struct {
	records []record
	index   []slot // open addressing; a power of two, at most half full
	free    []uint32
	names   *Names // where identities are kept
}

// slot is an entry of the index: a place + 1, 0 for none, and above it the upper bits of
// the hash of the name that has it, so that a lookup seldom reads a record of another name.
type slot uint32

// placeBits of a slot; the others are the tag.
const placeBits = 20

// placesMax is how many places a slot can tell apart.
const placesMax = 1<<placeBits - 1

func slotOf(h uint64, place uint32) slot { return slot(h>>(32+placeBits)<<placeBits) | slot(place+1) }

// place is 0 for none, else the place + 1.
func (s slot) place() uint32 { return uint32(s) & placesMax }

// fits says that the slot is the one of a name with this hash, most likely.
func (s slot) fits(h uint64) bool { return uint64(s>>placeBits) == h>>(32+placeBits) }

func hashOf(id node.ID) uint64 { return node.MixString(1, string(id)) }

// batch is how many names are looked up together.
const batch = 64

// lookup is the answer to names that were looked up together: place + 1, 0 for unknown.
type lookup [batch]uint32

// findAll returns the places of the members that up to a batch of news name. Each lookup
// reads three places of memory that nothing else has read lately. A loop of its own reads
// each of them for all names: it takes no decision by what it reads, so that the processor
// waits once for many.
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

// add takes in a name that is not there.
func (t *table) add(who *Identity) uint32 {
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

// remove forgets places; it costs as much as all members, and is rare.
func (t *table) remove(places []uint32) {
	for _, i := range places {
		t.records[i] = record{}
		t.free = append(t.free, i)
	}
	t.rebuild(len(t.records))
}

// reserve makes room for n more.
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

// size is how many names there are.
func (t *table) size() int { return len(t.records) - len(t.free) }

// portion is what a record adds to the sum that two lists are compared by.
func (r *record) portion() uint64 {
	if r.who == nil || r.state.Gone() {
		return 0
	}
	return node.Mix(node.Mix(hashOf(r.who.ID), r.incarnation), r.state.rank())
}
