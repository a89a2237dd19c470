package outputs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
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

// unfinishedMin is how old an unfinished file is that no process is writing: a write takes seconds, and a backup changes its file all the time.
const unfinishedMin = time.Hour

// RemoveUnfinished removes the files that killed processes left in a folder. Ours says which names are those of unfinished files, and
// returns the digits at their ends, which os.CreateTemp chooses. What cannot be removed stays, and does no harm.
func RemoveUnfinished(folder string, now time.Time, ours func(name string) (digits string, is bool)) {
	all, _ := os.ReadDir(folder)
	for _, f := range all {
		digits, is := ours(f.Name())
		if !is || digits == "" || strings.Trim(digits, "0123456789") != "" || !f.Type().IsRegular() {
			continue
		}
		if at, err := f.Info(); err == nil && now.Sub(at.ModTime()) > unfinishedMin {
			_ = os.Remove(filepath.Join(folder, f.Name()))
		}
	}
}
