package swim

import (
	"math/bits"
	"time"
)

// logUnit is the unit of log2.
const logUnit = 1 << 16

// log2 returns log2(n) in 1/65536, rounded down. It uses integers alone, so that all machines
// agree. n must not be zero.
func log2(n uint64) uint64 {
	whole := uint64(bits.Len64(n) - 1)
	x := n << (63 - whole) >> 32 // 1.31
	var part uint64
	for range 16 {
		x = x * x >> 31
		part <<= 1
		if x >= 1<<32 {
			part |= 1
			x >>= 1
		}
	}
	return whole*logUnit + part
}

// log10Milli returns max(1, log10 n) in thousandths.
func log10Milli(n int) int64 {
	if n <= 10 {
		return 1000
	}
	return int64(log2(uint64(n)) * 1000 / log2(10))
}

// sendsMax returns how often a piece of news is sent: factor ceil(log10(n+1)).
func sendsMax(factor, n int) int {
	digits := 0
	for n > 0 { // n+1 > 10^digits
		digits++
		n /= 10
	}
	return factor * max(1, digits)
}

// shrunk returns how long a suspicion lasts after c of k confirmations: from high down to low
// by ln(c+1)/ln(k+1), to a millisecond.
func shrunk(low, high time.Duration, c, k int) time.Duration {
	if k <= 0 || c >= k {
		return low
	}
	part := time.Duration(uint64((high-low)/time.Microsecond) * log2(uint64(c+1)) / log2(uint64(k+1)) * uint64(time.Microsecond))
	return max(low, (high - part).Truncate(time.Millisecond))
}

// lagQuarters returns the factor, in quarters, of the level that the loop's lag alone gives
// (core/health names the levels).
func lagQuarters(lag time.Duration) int {
	switch {
	case lag < 500*time.Millisecond:
		return 4
	case lag < time.Second:
		return 5
	case lag < 2*time.Second:
		return 6
	case lag < 4*time.Second:
		return 8
	}
	return 12
}
