package ring

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strconv"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// VirtualNodes is the number of each member's points on the ring.
const VirtualNodes = 150

// Ring is the order of a configured set. It never changes.
type Ring struct {
	members []node.Addr // sorted, distinct
	points  []point     // clockwise
}

type point struct {
	at     uint64
	member int32 // index into members
}

// New returns the ring of a set; the same for any order of its members.
func New(members []node.Addr) *Ring {
	r := &Ring{members: slices.Compact(slices.Sorted(slices.Values(members)))}
	r.points = make([]point, 0, len(r.members)*VirtualNodes)
	for i, a := range r.members {
		for v := range VirtualNodes {
			r.points = append(r.points, point{hash([]byte(string(a) + ":" + strconv.Itoa(v))), int32(i)})
		}
	}
	slices.SortFunc(r.points, func(p, q point) int {
		return cmp.Or(cmp.Compare(p.at, q.at), cmp.Compare(p.member, q.member)) // members are sorted: ties by address
	})
	return r
}

func hash(text []byte) uint64 {
	sum := sha256.Sum256(text)
	return binary.BigEndian.Uint64(sum[:8])
}

// Members returns the set, sorted. Do not change it.
func (r *Ring) Members() []node.Addr { return r.members }

// Order returns all members; the first is the first owner of a job.
func (r *Ring) Order(job message.JobID) []node.Addr {
	return r.Append(make([]node.Addr, 0, len(r.members)), job)
}

// Append appends the order of a job to a list and returns it.
func (r *Ring) Append(list []node.Addr, job message.JobID) []node.Addr {
	r.walk(job, func(m node.Addr) bool {
		list = append(list, m)
		return true
	})
	return list
}

// First returns the member that should own a job; empty for an empty set.
func (r *Ring) First(job message.JobID) (first node.Addr) {
	r.walk(job, func(m node.Addr) bool {
		first = m
		return false
	})
	return first
}

// Rank returns how many live members precede one in the order of a job: 0 means its turn.
// Without alive all members count. A member outside of the set is after all others.
func (r *Ring) Rank(job message.JobID, member node.Addr, alive func(node.Addr) bool) int {
	rank := 0
	r.walk(job, func(m node.Addr) bool {
		if m == member {
			return false
		}
		if alive == nil || alive(m) {
			rank++
		}
		return true
	})
	return rank
}

// walk visits each member once, clockwise from the job, until visit returns false.
func (r *Ring) walk(job message.JobID, visit func(node.Addr) bool) {
	h := hash(job[:])
	start, _ := slices.BinarySearchFunc(r.points, h, func(p point, h uint64) int { return cmp.Compare(p.at, h) })
	var few [4]uint64
	seen := few[:]
	if n := (len(r.members) + 63) / 64; n > len(seen) {
		seen = make([]uint64, n)
	}
	left := len(r.members)
	for i := 0; left > 0; i++ {
		m := r.points[(start+i)%len(r.points)].member
		if seen[m/64]&(1<<(m%64)) != 0 {
			continue
		}
		seen[m/64] |= 1 << (m % 64)
		left--
		if !visit(r.members[m]) {
			return
		}
	}
}
