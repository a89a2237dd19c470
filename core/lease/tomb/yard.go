package tomb

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

const (
	bucketMean = 256 // tombstones of a bucket, if there are as many as may be
	bucketsMax = 1 << 16
	pageAges   = 1024 // entries of one page of ages
	staleMax   = 4096 // ages without a tombstone, beside as many as there are tombstones
)

// Yard holds the tombstones of one member. Its zero value has no room.
type Yard struct {
	most    int
	shift   uint // of the first 32 bits of a job, to its bucket
	count   int
	buckets [][]slab // each sorted by job; nil until the first tombstone
	lives   []message.LeaseLife
	ages    [][]age // the oldest first, in pages, so that no page moves
	first   int     // index of the oldest in the first page
	aged    int     // ages, those whose tombstone has gone included
}

// age is when a tombstone was buried. The job's first bytes and the instant find it again.
type age struct {
	prefix uint64
	buried node.Instant
}

// New returns an empty yard with room for so many tombstones.
func New(most int) Yard {
	n := uint(min(bucketsMax, max(1, most/bucketMean)))
	return Yard{most: most, shift: 32 - uint(bits.Len(n-1))}
}

// Len counts the tombstones.
func (y *Yard) Len() int { return y.count }

// Max is how many there may be.
func (y *Yard) Max() int { return y.most }

// Ages counts what the yard remembers of ages, and Bound is what it may.
func (y *Yard) Ages() (n, bound int) { return y.aged, 2*y.most + staleMax }

func prefix(job message.JobID) uint64 { return binary.BigEndian.Uint64(job[:]) }

func (y *Yard) at(first uint64) *[]slab {
	if y.buckets == nil {
		y.buckets = make([][]slab, 1<<(32-y.shift))
	}
	return &y.buckets[first>>32>>y.shift]
}

func search(bucket []slab, job message.JobID) (int, bool) {
	return slices.BinarySearchFunc(bucket, job, func(s slab, job message.JobID) int { return s.job.Compare(job) })
}

// Add adds a tombstone that is not older than the others. It returns false if there is no room,
// or if its values are too large for a slab.
func (y *Yard) Add(t *Tomb) bool {
	if !t.fits() || y.count >= y.most {
		return false
	}
	life, ok := y.life(t.Life)
	if !ok {
		return false
	}
	bucket := y.at(prefix(t.Job))
	i, found := search(*bucket, t.Job)
	if found {
		return false
	}
	s := slab{
		job: t.Job, epoch: t.Token.Epoch, value: t.Value, buried: t.Buried, seq: uint32(t.Seq), rev: uint32(t.Rev),
		life: life, ordinal: uint8(t.Token.Ordinal), length: uint8(len(t.Epitaph)),
	}
	copy(s.epitaph[:], t.Epitaph)
	*bucket = insert(*bucket, i, s)
	y.count++
	y.push(age{prefix(t.Job), t.Buried})
	return true
}

// insert puts a slab in its place. A full bucket grows by an eighth: append would double it.
func insert(bucket []slab, i int, s slab) []slab {
	if len(bucket) < cap(bucket) {
		return slices.Insert(bucket, i, s)
	}
	grown := make([]slab, 0, len(bucket)+len(bucket)/8+4)
	return append(append(append(grown, bucket[:i]...), s), bucket[i:]...)
}

// life returns the index of a life. There are as many as runs of members.
func (y *Yard) life(l message.LeaseLife) (uint16, bool) {
	for i := len(y.lives) - 1; i >= 0; i-- {
		if y.lives[i] == l {
			return uint16(i), true
		}
	}
	if len(y.lives) > math.MaxUint16 {
		return 0, false
	}
	y.lives = append(y.lives, l)
	return uint16(len(y.lives) - 1), true
}

// Find returns the tombstone of a job.
func (y *Yard) Find(job message.JobID) (Tomb, bool) {
	if y.count == 0 {
		return Tomb{}, false
	}
	bucket := *y.at(prefix(job))
	i, found := search(bucket, job)
	if !found {
		return Tomb{}, false
	}
	return y.tomb(&bucket[i]), true
}

// Remove takes the tombstone of a job away, if there is one.
func (y *Yard) Remove(job message.JobID) {
	if y.count == 0 {
		return
	}
	bucket := y.at(prefix(job))
	i, found := search(*bucket, job)
	if !found {
		return
	}
	*bucket = shrunk(slices.Delete(*bucket, i, i+1))
	y.count--
	y.trim()
}

// Oldest returns the tombstone that was buried first.
func (y *Yard) Oldest() (Tomb, bool) {
	for y.count > 0 {
		if s := y.of(y.ages[0][y.first]); s != nil {
			return y.tomb(s), true
		}
		y.pop()
	}
	return Tomb{}, false
}

// shrunk gives the memory of a bucket back of which less than half is used.
func shrunk(bucket []slab) []slab {
	switch {
	case len(bucket) == 0:
		return nil
	case cap(bucket) > 2*len(bucket)+8:
		return slices.Clone(bucket)
	}
	return bucket
}

func (y *Yard) push(a age) {
	last := len(y.ages) - 1
	if last < 0 || len(y.ages[last]) == pageAges {
		y.ages = append(y.ages, make([]age, 0, pageAges))
		last++
	}
	y.ages[last] = append(y.ages[last], a)
	y.aged++
}

func (y *Yard) pop() {
	y.aged--
	if y.first++; y.first == len(y.ages[0]) {
		y.ages[0] = nil
		y.ages, y.first = y.ages[1:], 0
	}
}

// trim drops the ages of tombstones that have gone, once they are more than half of all.
func (y *Yard) trim() {
	if y.count == 0 {
		y.ages, y.first, y.aged = nil, 0, 0
		return
	}
	if y.aged <= 2*y.count+staleMax {
		return
	}
	old, first := y.ages, y.first
	y.ages, y.first, y.aged = nil, 0, 0
	for _, page := range old {
		for _, a := range page[first:] {
			if y.of(a) != nil {
				y.push(a)
			}
		}
		first = 0
	}
}

// of returns the tombstone of an age, or nil if it has gone.
func (y *Yard) of(a age) *slab {
	bucket := *y.at(a.prefix)
	var from message.JobID
	binary.BigEndian.PutUint64(from[:], a.prefix)
	i, _ := search(bucket, from)
	for ; i < len(bucket) && prefix(bucket[i].job) == a.prefix; i++ {
		if bucket[i].buried == a.buried {
			return &bucket[i]
		}
	}
	return nil
}

// After returns the first tombstone whose job comes after another one.
func (y *Yard) After(job message.JobID) (Tomb, bool) {
	if y.count == 0 {
		return Tomb{}, false
	}
	b := int(prefix(job) >> 32 >> y.shift)
	i, found := search(y.buckets[b], job)
	if found {
		i++
	}
	for ; b < len(y.buckets); b, i = b+1, 0 {
		if i < len(y.buckets[b]) {
			return y.tomb(&y.buckets[b][i]), true
		}
	}
	return Tomb{}, false
}

// Clear removes all tombstones.
func (y *Yard) Clear() { *y = New(y.most) }
