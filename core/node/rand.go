package node

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"time"
)

// Purpose names what a random number is for. Each purpose has its own stream, so that a new
// draw for one shifts none of the others.
type Purpose uint8

// The closed list of purposes.
const (
	PurposeID        Purpose = iota // identifiers
	PurposeJitter                   // spreading of timers and retries
	PurposePlacement                // which worker, manager, datacenter
	PurposeWorkload                 // seeds handed to executors
	PurposeToy                      // test machines
	PurposeNetwork                  // the simulated network
	PurposeFault                    // the simulated faults
	PurposeModel                    // the model executor
	PurposeDisk                     // the simulated disks
	PurposeLease                    // salts and back-off of registers
	PurposeProbe                    // which members the membership probes and gossips to
	PurposeElection                 // when a candidate stands
	Purposes
)

// Rand is a stream of integers. It has no floats, so that all machines draw the same numbers.
type Rand struct{ pcg rand.PCG }

// NewRand returns the stream of (seed, node, purpose).
func NewRand(seed uint64, id ID, p Purpose) *Rand {
	r := &Rand{}
	r.Seed(seed, id, p)
	return r
}

// Seed makes r the stream of (seed, node, purpose), from its beginning.
func (r *Rand) Seed(seed uint64, id ID, p Purpose) {
	h := MixString(uint64(p)+1, string(id))
	r.pcg.Seed(seed, h)
}

// Uint64 returns 64 random bits.
func (r *Rand) Uint64() uint64 { return r.pcg.Uint64() }

// N returns a number in [0, n); n must not be zero. The bias is below n/2^64.
func (r *Rand) N(n uint64) uint64 {
	if n == 0 {
		Bug("rand: N(0)")
	}
	hi, _ := bits.Mul64(r.pcg.Uint64(), n)
	return hi
}

// Int returns a number in [0, n); n must be positive.
func (r *Rand) Int(n int) int { return int(r.N(uint64(n))) }

// Chance is true num times out of den.
func (r *Rand) Chance(num, den uint64) bool { return r.N(den) < num }

// Duration returns a duration in [low, high]; high must not be below low.
func (r *Rand) Duration(low, high time.Duration) time.Duration {
	if high < low {
		Bug("rand: duration between %v and %v", low, high)
	}
	return low + time.Duration(r.N(uint64(high-low)+1))
}

// ID returns 16 random bytes.
func (r *Rand) ID() (id [16]byte) {
	binary.BigEndian.PutUint64(id[:8], r.pcg.Uint64())
	binary.BigEndian.PutUint64(id[8:], r.pcg.Uint64())
	return id
}

// Shuffle permutes n elements by swap.
func (r *Rand) Shuffle(n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, r.Int(i+1))
	}
}
