package seal

import (
	"fmt"
	"io"
	"os"
	"time"
)

// File is where a node reads its secrets, and what it last saw there.
type File struct {
	path string
	mod  time.Time
	size int64
	mode os.FileMode
}

// OpenFile returns the file of a path; nothing is read yet.
func OpenFile(path string) *File { return &File{path: path} }

// Path is where the file is.
func (f *File) Path() string { return f.path }

// Changed says whether the file differs from the one that Read saw, by time, size and mode: one that
// was refused for its mode is read again once that is mended. A file that is away has not changed:
// the secrets that are known stay.
func (f *File) Changed() bool {
	info, err := os.Stat(f.path)
	return err == nil && (!info.ModTime().Equal(f.mod) || info.Size() != f.size || info.Mode() != f.mode)
}

// Read returns the secrets in the file. It refuses a file that every user of the machine reads, or
// that others write.
func (f *File) Read() ([]Secret, error) {
	in, err := os.Open(f.path)
	if err != nil {
		return nil, fmt.Errorf("cluster secret: %w: correct --cluster-secret", err)
	}
	defer func() { _ = in.Close() }() // it was only read
	info, err := in.Stat()
	if err != nil {
		return nil, fmt.Errorf("cluster secret: %w: correct --cluster-secret", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("cluster secret: %s is no regular file: give the file itself to --cluster-secret", f.path)
	}
	f.mod, f.size, f.mode = info.ModTime(), info.Size(), info.Mode()
	if loose := info.Mode().Perm() & 0o027; loose != 0 {
		return nil, fmt.Errorf("cluster secret: %s has mode %04o, others must neither read nor write it: chmod 0600 %s", f.path, info.Mode().Perm(), f.path)
	}
	text, err := io.ReadAll(io.LimitReader(in, textMax+1))
	if err != nil {
		return nil, fmt.Errorf("cluster secret: %w: correct --cluster-secret", err)
	}
	secrets, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("cluster secret: %s: %w", f.path, err)
	}
	return secrets, nil
}
