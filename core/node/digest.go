package node

import "math/bits"

// Mix folds b into the running hash a: one multiplication, as wyhash does. It
// is not meant to withstand somebody who searches for collisions.
func Mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^0xa0761d6478bd642f, b^0xe7037ed1a0b428db)
	return hi ^ lo
}

// MixString folds a string and its length into h.
func MixString(h uint64, s string) uint64 {
	h = Mix(h, uint64(len(s)))
	for len(s) >= 8 {
		h = Mix(h, uint64(s[0])|uint64(s[1])<<8|uint64(s[2])<<16|uint64(s[3])<<24|
			uint64(s[4])<<32|uint64(s[5])<<40|uint64(s[6])<<48|uint64(s[7])<<56)
		s = s[8:]
	}
	if len(s) > 0 {
		var v uint64
		for i := 0; i < len(s); i++ {
			v |= uint64(s[i]) << (8 * i)
		}
		h = Mix(h, v)
	}
	return h
}

// MixBytes folds bytes and their number into h.
func MixBytes(h uint64, b []byte) uint64 {
	h = Mix(h, uint64(len(b)))
	for len(b) >= 8 {
		h = Mix(h, uint64(b[0])|uint64(b[1])<<8|uint64(b[2])<<16|uint64(b[3])<<24|
			uint64(b[4])<<32|uint64(b[5])<<40|uint64(b[6])<<48|uint64(b[7])<<56)
		b = b[8:]
	}
	if len(b) > 0 {
		var v uint64
		for i := range b {
			v |= uint64(b[i]) << (8 * i)
		}
		h = Mix(h, v)
	}
	return h
}
