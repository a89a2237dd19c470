package program

import (
	"errors"

	"golang.org/x/sys/unix"
)

// exited waits until a child has ended, and leaves it to be waited for. It returns false if that is unknown.
func exited(pid int) bool {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err == nil
		}
	}
}
