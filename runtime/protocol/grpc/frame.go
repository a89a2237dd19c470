package grpc

import (
	"encoding/binary"
	"strconv"
	"time"
)

// HeadLen is the length of a message's head: a flag, and the length of what follows.
const HeadLen = 5

// Begin appends room for the head of a message, which Put writes.
func Begin(dst []byte) []byte { return append(dst, 0, 0, 0, 0, 0) }

// Put writes the head of the message that ends b, whose head begins at from.
func Put(b []byte, from int, compressed bool) {
	b[from] = 0
	if compressed {
		b[from] = 1
	}
	binary.BigEndian.PutUint32(b[from+1:], uint32(len(b)-from-HeadLen))
}

// Timeout is the value of grpc-timeout: at most eight digits and a unit, rounded up.
func Timeout(d time.Duration) string {
	if d > 0 && d%time.Millisecond == 0 && d/time.Millisecond <= 99_999_999 {
		return strconv.FormatInt(int64(d/time.Millisecond), 10) + "m" // as people write it
	}
	for _, u := range []struct {
		unit string
		of   time.Duration
	}{{"n", 1}, {"u", time.Microsecond}, {"m", time.Millisecond}, {"S", time.Second}, {"M", time.Minute}} {
		if n := (max(d, 1) + u.of - 1) / u.of; n <= 99_999_999 {
			return strconv.FormatInt(int64(n), 10) + u.unit
		}
	}
	return strconv.FormatInt(int64(min(d/time.Hour, 99_999_999)), 10) + "H"
}
