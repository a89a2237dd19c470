package load

import "math/bits"

// Spread distributes iterations over the virtual users of a workflow, in an order in which
// neighbours are far apart. Use NewSpread: the zero Spread is invalid.
type Spread struct{ vus, stride, inverse uint64 }

// vusMax keeps products of two users within 64 bits.
const vusMax = 1 << 31

// NewSpread returns the order for so many users, at least one.
func NewSpread(vus uint64) Spread {
	vus = min(max(vus, 1), vusMax)
	s := Spread{vus: vus, stride: stride(vus)}
	s.inverse = inverse(s.stride, vus)
	return s
}

// golden is the golden section, in millionths.
const golden = 618_034

// stride returns the number coprime to vus that is nearest to its golden section.
func stride(vus uint64) uint64 {
	low, high := vus*golden/1_000_000, vus*golden/1_000_000+1
	for low > 0 && gcd(low, vus) > 1 {
		low--
	}
	for gcd(high, vus) > 1 {
		high++
	}
	if low == 0 || high*1_000_000-vus*golden < vus*golden-low*1_000_000 {
		return high
	}
	return low
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// inverse returns the inverse of a modulo m, both coprime, by Euclid's extended algorithm; the
// coefficients stay below m.
func inverse(a, m uint64) uint64 {
	r0, r1, t0, t1 := int64(m), int64(a%m), int64(0), int64(1)
	for r1 != 0 {
		q := r0 / r1
		r0, r1 = r1, r0-q*r1
		t0, t1 = t1, t0-q*t1
	}
	if t0 < 0 {
		t0 += int64(m)
	}
	return uint64(t0) % m
}

// VUs returns the number of users.
func (s Spread) VUs() uint64 { return s.vus }

// User returns s(k): the user of iteration number k, counted from 0.
func (s Spread) User(k uint64) uint64 { return k % s.vus * s.stride % s.vus }

// Rank returns the first k whose user is u.
func (s Spread) Rank(u uint64) uint64 { return u % s.vus * s.inverse % s.vus }

// Share counts those of the first total iterations whose users are in [first,
// first+n): iterations of an executor, or its active users.
func (s Spread) Share(total, first, n uint64) uint64 {
	first = min(first, s.vus)
	n = min(n, s.vus-first)
	rounds, rest := total/s.vus, total%s.vus
	return rounds*n + s.below(rest, first+n) - s.below(rest, first)
}

// below counts the k below n, itself at most vus, with User(k) < c: the sum of floor((k*stride
// + vus) / vus) - floor((k*stride + vus - c) / vus).
func (s Spread) below(n, c uint64) uint64 {
	return floorSum(n, s.vus, s.stride, s.vus) - floorSum(n, s.vus, s.stride, s.vus-c)
}

// floorSum returns the sum of floor((a*i + b) / m) for i in [0, n), in about log m steps. The
// sums may wrap around; their differences do not.
func floorSum(n, m, a, b uint64) (sum uint64) {
	for n > 0 {
		hi, lo := bits.Mul64(n, n-1)
		sum += a / m * (lo>>1 | hi<<63)
		a %= m
		sum += b / m * n
		b %= m
		top := a*n + b
		if top < m {
			break
		}
		n, b = top/m, top%m
		m, a = a, m
	}
	return sum
}
