//go:build linux

package rows

import (
	"os"

	"golang.org/x/sys/unix"
)

// populate maps all pages at once.
const populate = unix.MAP_POPULATE

// memory makes a file that has no name.
func memory() (*os.File, error) {
	fd, err := unix.MemfdCreate("hyperscale rows", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "rows"), nil
}

// seal makes a file as it is for ever.
func seal(f *os.File) error {
	_, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_WRITE|unix.F_SEAL_SEAL)
	return err
}

// sealed says that no process can change a file.
func sealed(fd int) bool {
	seals, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	return err == nil && seals&unix.F_SEAL_SHRINK != 0 && seals&unix.F_SEAL_WRITE != 0
}
