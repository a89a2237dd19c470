package confine

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// answer runs a filter as the kernel does. The machine of x/net reads big-endian numbers.
func answer(t *testing.T, filter []bpf.Instruction, arch, call, argument uint32) uint32 {
	t.Helper()
	machine, err := bpf.NewVM(filter)
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, 64)
	binary.BigEndian.PutUint32(data[atCall:], call)
	binary.BigEndian.PutUint32(data[atArch:], arch)
	binary.BigEndian.PutUint32(data[atArgument:], argument)
	n, err := machine.Run(data)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(n)
}

// TestFilter: the filter denies each call of its list and no other one, but for processes.
func TestFilter(t *testing.T) {
	own := calls()
	if own == nil {
		t.Skip("no filter is written for this architecture")
	}
	for _, c := range []*table{own, {arch: 7, most: 900, denied: []uint32{3}}, {arch: 7, denied: []uint32{900, 0, 3, 4, 5, 3}}, {arch: 7}} {
		filter := c.filter()
		for call := range uint32(1000) {
			want := allowed
			switch {
			case c.most > 0 && call >= c.most:
				want = ended
			case call == unix.SYS_CLONE3:
				want = unknown
			case call == unix.SYS_CLONE:
				if got := answer(t, filter, c.arch, call, uint32(unix.SIGCHLD)); got != denied {
					t.Errorf("arch %#x: a process is made: %#x", c.arch, got)
				}
				if got := answer(t, filter, c.arch, call, unix.CLONE_VM|unix.CLONE_THREAD); got != allowed {
					t.Errorf("arch %#x: a thread is not made: %#x", c.arch, got)
				}
				continue
			case slices.Contains(c.denied, call):
				want = denied
			}
			if got := answer(t, filter, c.arch, call, 0); got != want {
				t.Errorf("arch %#x: call %d of %d gives %#x, want %#x", c.arch, call, len(c.denied), got, want)
			}
			if got := answer(t, filter, c.arch+1, call, 0); got != ended {
				t.Errorf("call %d of another architecture gives %#x", call, got)
			}
		}
		if c.most > 0 {
			if got := answer(t, filter, c.arch, c.most|1, 0); got != ended {
				t.Errorf("a call of another table gives %#x", got)
			}
		}
	}
}

// listMost is how many calls a list may have: a jump skips 255 instructions at most.
const listMost = 127

// TestListIsShort: a list of any length that is allowed is searched right.
func TestListIsShort(t *testing.T) {
	for n := range listMost + 1 {
		list := make([]uint32, n)
		for i := range list {
			list[i] = uint32(2 * i)
		}
		c := table{denied: list}
		filter := c.filter()
		for call := range uint32(2*n + 1) {
			want := allowed
			if call%2 == 0 && call < uint32(2*n) {
				want = denied
			}
			if call == unix.SYS_CLONE || call == unix.SYS_CLONE3 {
				continue
			}
			if got := answer(t, filter, 0, call, 0); got != want {
				t.Fatalf("%d calls: %d gives %#x, want %#x", n, call, got, want)
			}
		}
	}
	if c := calls(); c != nil && len(c.denied) > listMost {
		t.Errorf("the list has %d calls, %d at most: search for half of it in a second filter", len(c.denied), listMost)
	}
}

// TestHotCallsAreOfOneKind: the kernel allows a call without running the filter if the answer
// depends on number and architecture alone. Only clone looks at an argument.
func TestHotCallsAreOfOneKind(t *testing.T) {
	c := calls()
	if c == nil {
		t.Skip("no filter is written for this architecture")
	}
	reads := 0
	for _, i := range c.filter() {
		if l, ok := i.(bpf.LoadAbsolute); ok && l.Off != atCall && l.Off != atArch {
			reads++
		}
	}
	if reads != 1 {
		t.Errorf("%d reads of arguments, want the one of clone", reads)
	}
	for _, call := range []uint32{unix.SYS_READ, unix.SYS_WRITE, unix.SYS_WRITEV, unix.SYS_SENDTO, unix.SYS_RECVFROM, unix.SYS_RECVMSG, unix.SYS_EPOLL_PWAIT, unix.SYS_EPOLL_CTL,
		unix.SYS_SOCKET, unix.SYS_CONNECT, unix.SYS_CLOSE, unix.SYS_SETSOCKOPT, unix.SYS_GETSOCKOPT, unix.SYS_FUTEX, unix.SYS_MMAP, unix.SYS_MUNMAP, unix.SYS_MADVISE,
		unix.SYS_NANOSLEEP, unix.SYS_CLOCK_GETTIME, unix.SYS_OPENAT, unix.SYS_FSTAT, unix.SYS_TGKILL, unix.SYS_RT_SIGACTION, unix.SYS_EXIT_GROUP, unix.SYS_GETRANDOM} {
		if slices.Contains(c.denied, call) {
			t.Error(fmt.Sprint("an executor needs call ", call))
		}
	}
}
