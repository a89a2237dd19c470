package rows

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Open opens a regular file of a folder. It follows relative links that stay in the folder, and
// rejects a path that leaves it. What it checks is the file that it returns: a link that changes
// afterwards changes nothing.
func Open(folder, name string) (*os.File, fs.FileInfo, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	// A pipe without a writer would block an open that waits for one.
	f, err := root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, explain(err, folder, name)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no file", filepath.Join(folder, filepath.FromSlash(name)))
	}
	if err != nil {
		_ = f.Close() // nothing was written
		return nil, nil, err
	}
	return f, info, nil
}

// ErrOutside is the error of a path that leaves its folder.
var ErrOutside = errors.New("the path leaves the folder")

// explain names folder, path and remedy where os.Root says only that a path escapes. It exports
// no error to compare with.
func explain(err error, folder, name string) error {
	var path *fs.PathError
	switch {
	case !errors.As(err, &path):
		return err
	case path.Err.Error() == "path escapes from parent":
		return fmt.Errorf("%q leads out of the folder %s, or by an absolute link: copy the file into the folder, or make the link relative to a file in it: %w", name, folder, ErrOutside)
	}
	path.Op, path.Path = "open", filepath.Join(folder, filepath.FromSlash(name)) // it has the part below the folder
	return path
}
