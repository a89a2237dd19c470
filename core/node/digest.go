package node

import (
	"encoding/binary"
	"math/bits"
)

// Mix folds b into the running hash a: one multiplication, as wyhash does. It does not resist
// an attacker who searches for collisions.
func Mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^0xa0761d6478bd642f, b^0xe7037ed1a0b428db)
	return hi ^ lo
}

// MixString folds a string and its length into h.
func MixString(h uint64, s string) uint64 {
	n := len(s)
	h = Mix(h, uint64(n))
	if n < 8 {
		return mixShort(h, s)
	}
	at := 0
	for ; n-at >= 8; at += 8 {
		h = Mix(h, word(s[at:at+8]))
	}
	if left := n - at; left > 0 { // the last word holds what is left, behind bytes that were folded
		h = Mix(h, word(s[n-8:])>>(8*(8-left)))
	}
	return h
}

// word reads eight bytes, the first as the lowest.
func word(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// half reads four bytes, the first as the lowest.
func half(s string) uint64 {
	_ = s[3]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24
}

// mixShort folds fewer than eight bytes. It reads some of them twice, to the same place.
func mixShort(h uint64, s string) uint64 {
	n := len(s)
	switch {
	case n >= 4:
		return Mix(h, half(s)|half(s[n-4:])<<(8*(n-4)))
	case n > 0:
		return Mix(h, uint64(s[0])|uint64(s[n/2])<<(8*(n/2))|uint64(s[n-1])<<(8*(n-1)))
	}
	return h
}

// MixBytes folds bytes and their number into h.
func MixBytes(h uint64, b []byte) uint64 {
	h = Mix(h, uint64(len(b)))
	for len(b) >= 8 {
		h = Mix(h, binary.LittleEndian.Uint64(b))
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
