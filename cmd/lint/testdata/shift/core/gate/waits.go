package gate

import "time"

const (
	base  = time.Second << 3
	bytes = 1 << 20
)

func wait(tries int, size uint64) time.Duration {
	d := base << min(tries, 6)
	d <<= 1
	d = time.Duration(1 << tries)
	size <<= 2
	return min(d, time.Duration(size)) >> 1
}
