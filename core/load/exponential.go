package load

import "math/bits"

// ln2 is the logarithm of 2, times 2^64.
const ln2 = 0xB17217F7D1CF79AB

// logarithms contains those of the middles of 64 intervals of [1, 2): 1 KiB. A polynomial does
// the rest. It uses no floats, because they would differ between machines.
type logarithms [64]struct {
	ln      uint64 // of the middle, times 2^56
	inverse uint64 // of the middle, times 2^63
}

func newLogarithms() *logarithms {
	t := new(logarithms)
	for i := range t {
		middle := uint64(129+2*i) << 56 // times 2^63, in [1, 2)
		log2 := uint64(0)
		x := middle
		for range 56 { // squaring doubles the logarithm: its bits overflow at the top
			hi, lo := bits.Mul64(x, x)
			log2 <<= 1
			if hi>>63 == 1 {
				log2 |= 1
				x = hi
			} else {
				x = hi<<1 | lo>>63
			}
		}
		hi, _ := bits.Mul64(log2, ln2)
		t[i].ln = hi
		t[i].inverse, _ = bits.Div64(1<<62, 0, middle)
	}
	return t
}

// minusLog returns -ln(u / 2^64), times 2^48, to one part in a billion; u = 0 counts as 1.
func (t *logarithms) minusLog(u uint64) uint64 {
	zeros := uint(bits.LeadingZeros64(u | 1))
	m := (u | 1) << zeros // times 2^63, in [1, 2)
	e := &t[m>>57&63]
	// x = m / middle - 1, times 2^63, within ±2^-7: ln(1+x) = x - x²/2 + x³/3
	middle := m&^(1<<57-1) | 1<<56
	distance, below := m-middle, m < middle
	if below {
		distance = middle - m
	}
	x, _ := bits.Mul64(distance<<1, e.inverse) // times 2^63
	square, _ := bits.Mul64(x<<1, x)
	cube, _ := bits.Mul64(square<<1, x)
	log := e.ln
	if below {
		log -= (x + square/2 + cube/3) >> 7
	} else {
		log += (x - square/2 + cube/3) >> 7
	}
	hi, lo := bits.Mul64(uint64(zeros)+1, ln2)
	whole := hi<<56 | lo>>8
	if whole < log { // for u next to 2^64, by rounding
		return 0
	}
	return (whole - log) >> 8
}

// draw returns the k-th exponential draw of a seed, times one.
func (t *logarithms) draw(seed, k, one uint64) uint64 {
	x := seed + (k+1)*0xa0761d6478bd642f // wyrand, at its k-th place
	hi, lo := bits.Mul64(x, x^0xe7037ed1a0b428db)
	hi, lo = bits.Mul64(t.minusLog(hi^lo), one)
	return hi<<16 | lo>>48
}
