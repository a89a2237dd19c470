package stamp

import (
	"crypto/rand"
	"encoding/binary"
	"hash/fnv"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Clock is that of the machine, read once and carried on by the process's own.
type Clock struct {
	name  uint64    // of the machine's clock
	at    time.Time // when it was read
	nanos int64     // what it said: since the kernel began
}

// readings is how often the clock is read at first. The one counts that took least, which bounds its error.
const readings = 8

// New reads the machine's clock.
func New() *Clock {
	c := &Clock{name: machine()}
	for least, n := time.Duration(-1), 0; n < readings; n++ {
		var ts unix.Timespec
		before := time.Now()
		if unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) != nil {
			break // no Linux lacks it
		}
		if took := time.Since(before); least < 0 || took < least {
			least, c.at, c.nanos = took, before.Add(took/2), ts.Nano()
		}
	}
	return c
}

// machine names the clock of this process: one of the start of a kernel, and of a namespace of time in it.
// Without both names nothing else knows the clock.
func machine() uint64 {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space, wrong := os.Readlink("/proc/self/ns/time")
	if os.IsNotExist(wrong) {
		wrong = nil // kernels before 5.6 have no such namespaces
	}
	if err != nil || wrong != nil {
		var random [8]byte
		_, _ = rand.Read(random[:]) // it never fails
		return binary.BigEndian.Uint64(random[:])
	}
	h := fnv.New64a()
	_, _ = h.Write(append(boot, space...)) // it never fails
	return h.Sum64()
}

// Of returns what the machine's clock says so many nanoseconds behind a base.
func (c *Clock) Of(base time.Time, now int64) int64 { return c.nanos + int64(base.Sub(c.at)) + now }

const (
	digits = 16 // of the name of a clock, in hexadecimal
	most   = digits + 1 + 19
)

// slack is how far a stamp may be ahead, in nanoseconds: two processes read the clock with errors.
const slack = int64(100 * time.Microsecond)

// Append appends the stamp of an instant of the machine's clock.
func (c *Clock) Append(dst []byte, at int64) []byte {
	const hexadecimal = "0123456789abcdef"
	for shift := 60; shift >= 0; shift -= 4 {
		dst = append(dst, hexadecimal[c.name>>shift&15])
	}
	return strconv.AppendInt(append(dst, '-'), at, 10)
}

// Age returns how old a stamp is at an instant of the machine's clock, in nanoseconds. Not known: it is of
// another clock, or no stamp.
func (c *Clock) Age(text string, at int64) (age int64, known bool) {
	if len(text) <= digits+1 || len(text) > most || text[digits] != '-' {
		return 0, false
	}
	name, err := strconv.ParseUint(text[:digits], 16, 64)
	sent, wrong := strconv.ParseUint(text[digits+1:], 10, 63)
	if age = at - int64(sent); err != nil || wrong != nil || name != c.name || age < -slack {
		return 0, false
	}
	return max(0, age), true
}
