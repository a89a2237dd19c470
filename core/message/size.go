package message

import "math"

// The lengths of msgpack's encodings, as msgp's Append functions choose them.

func sizeString(n int) int {
	switch {
	case n <= 31:
		return 1 + n
	case n <= math.MaxUint8:
		return 2 + n
	case n <= math.MaxUint16:
		return 3 + n
	}
	return 5 + n
}

func sizeBytes(n int) int {
	switch {
	case n <= math.MaxUint8:
		return 2 + n
	case n <= math.MaxUint16:
		return 3 + n
	}
	return 5 + n
}

func sizeArray(n int) int {
	switch {
	case n <= 15:
		return 1
	case n <= math.MaxUint16:
		return 3
	}
	return 5
}

// SizeUint returns the length of an encoded unsigned integer: test messages have sizes too.
func SizeUint(v uint64) int { return sizeUint(v) }

func sizeUint(v uint64) int {
	switch {
	case v <= math.MaxInt8:
		return 1
	case v <= math.MaxUint8:
		return 2
	case v <= math.MaxUint16:
		return 3
	case v <= math.MaxUint32:
		return 5
	}
	return 9
}

func sizeInt(v int64) int {
	switch {
	case v >= -32 && v <= math.MaxInt8:
		return 1
	case v >= math.MinInt8 && v < 0:
		return 2
	case v >= math.MinInt16 && v <= math.MaxInt16:
		return 3
	case v >= math.MinInt32 && v <= math.MaxInt32:
		return 5
	}
	return 9
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
