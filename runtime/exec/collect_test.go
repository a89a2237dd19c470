package exec

import (
	"bufio"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// The collector leaves half a second's garbage, within bounds, whatever lives.
func TestPaceOfCollection(t *testing.T) {
	const mib = 1 << 20
	for _, tt := range []struct {
		freed, live uint64
		want        int
	}{
		{0, 0, 200}, // a process that has just begun
		{0, 3 * mib, 200},
		{20 * mib, 3 * mib, 200},
		{1 * mib, 100 * mib, 6},
		{16 * mib, 100 * mib, 32},
		{100 * mib, 200 * mib, 32},
		{0, 1000 * mib, 5},
	} {
		if got := pace(tt.freed, tt.live); got != tt.want {
			t.Errorf("%d freed beside %d: got %d %%, want %d %%", tt.freed, tt.live, got, tt.want)
		}
	}
}

// An executor that ends with something unread has not written nonsense.
func TestEndWithSomethingUnreadIsAnEnd(t *testing.T) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "executor"), os.NewFile(uintptr(pair[1]), "worker")
	defer ours.Close()
	if _, err := ours.Write([]byte("extend")); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	if _, err := read(bufio.NewReader(ours)); err == nil || !isEnd(err) {
		t.Errorf("got %v, want an end", err)
	}
}
