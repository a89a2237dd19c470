package stats

import (
	"math"
	"math/bits"
	"time"

	"hyperscale/core/message"
)

// AddUsage adds up what executors used. The result names the one that came nearest to its budget.
func AddUsage(a, b message.Usage) message.Usage {
	if nearer(b, a) {
		a.Memory, a.MemoryMax = b.Memory, b.MemoryMax
	}
	a.CPU = time.Duration(min(add(uint64(max(0, a.CPU)), uint64(max(0, b.CPU))), math.MaxInt64))
	a.Pressed = a.Pressed || b.Pressed
	a.Throttles = uint32(min(uint64(a.Throttles)+uint64(b.Throttles), math.MaxUint32))
	a.Throttled = max(a.Throttled, b.Throttled)
	return a
}

// nearer says that a is nearer to its budget than b. Without a budget, none is near.
func nearer(a, b message.Usage) bool {
	if (a.MemoryMax == 0) != (b.MemoryMax == 0) {
		return a.MemoryMax > 0
	}
	if a.MemoryMax == 0 {
		return a.Memory > b.Memory
	}
	aHigh, aLow := bits.Mul64(a.Memory, b.MemoryMax)
	bHigh, bLow := bits.Mul64(b.Memory, a.MemoryMax)
	if aHigh != bHigh {
		return aHigh > bHigh
	}
	if aLow != bLow {
		return aLow > bLow
	}
	if a.Memory != b.Memory {
		return a.Memory > b.Memory
	}
	return a.MemoryMax > b.MemoryMax
}
