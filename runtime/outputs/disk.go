package outputs

import (
	"errors"
	"os"
	"syscall"
)

// SyncFolder makes the names in a folder durable: the sync of a new file keeps its bytes, and not its name. File systems that know no such
// sync, as some of a network, keep names in their own way.
func SyncFolder(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }() // nothing was written to it
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}
	return nil
}
