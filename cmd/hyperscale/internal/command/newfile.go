package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hyperscale/runtime/outputs"
)

// part stands between a file's name and the digits of its unfinished file.
const part = ".partial-"

// NewFile gives a file its name once all of it is on the disk, and replaces none: the error is fs.ErrExist then. What a kill leaves
// has another name, which begins with a dot.
func NewFile(name string, mode fs.FileMode, fill func(io.Writer) error) error {
	return newFile(name, mode, fill, os.Link)
}

func newFile(name string, mode fs.FileMode, fill func(io.Writer) error, link func(file, name string) error) error {
	file, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+part)
	if err != nil {
		return AsUsage(err)
	}
	defer func() { _ = os.Remove(file.Name()) }() // it has its other name by then, or is of no use
	if err = fill(file); err == nil {
		err = file.Chmod(mode)
	}
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := named(file.Name(), name, link); err != nil {
		return err
	}
	return outputs.SyncFolder(filepath.Dir(name))
}

// named gives a file its name. Unlike a rename a link replaces nothing. A file system without links gets a rename, where a file that
// another process makes between the two calls would be lost.
func named(file, name string, link func(file, name string) error) error {
	failed := link(file, name)
	if failed == nil || errors.Is(failed, fs.ErrExist) {
		return failed
	}
	switch _, err := os.Lstat(name); {
	case err == nil:
		return fmt.Errorf("%s: %w", name, fs.ErrExist)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := os.Rename(file, name); err != nil {
		return errors.Join(failed, err)
	}
	return nil
}

// RemoveParts removes the unfinished files that killed runs of NewFile left in a folder, of names that are its caller's.
func RemoveParts(folder string, ours func(name string) bool) {
	outputs.RemoveUnfinished(folder, time.Now(), func(name string) (rest string, is bool) {
		name, hidden := strings.CutPrefix(name, ".")
		at := strings.LastIndex(name, part)
		if !hidden || at < 0 || !ours(name[:at]) {
			return "", false
		}
		return name[at+len(part):], true
	})
}
