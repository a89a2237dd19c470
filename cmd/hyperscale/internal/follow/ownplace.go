package follow

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// elsewhere is the remedy for every place that a workflow's file may not name.
const elsewhere = "a workflow's file writes results below the working directory alone; give any other place with --out"

// headMax is how much of a file tells what it is.
const headMax = 4 << 10

// ownPlace says why a workflow's file may not write a result to a place. Users run files of other
// people: these must not replace what is not theirs. A place is below the working directory, no
// part of it is a link, and what stands there is a result of this kind, or empty.
func ownPlace(place string, marks ...string) error {
	if !filepath.IsLocal(place) {
		return errors.New("is not below the working directory: " + elsewhere)
	}
	at, last := ".", fs.FileMode(0)
	for _, part := range strings.Split(filepath.Clean(place), string(filepath.Separator)) {
		at = filepath.Join(at, part)
		info, err := os.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // Writable reports a folder that is missing
		case err != nil:
			return err
		case info.Mode()&fs.ModeSymlink != 0:
			return fmt.Errorf("%s is a link: %s", at, elsewhere)
		}
		last = info.Mode()
	}
	if !last.IsRegular() { // to open a pipe is to wait for its reader
		return errors.New("is no regular file: " + elsewhere)
	}
	return standsThere(at, marks)
}

// standsThere says why a file may not be replaced.
func standsThere(name string, marks []string) error {
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("what stands there cannot be read: %w", err)
	}
	defer func() { _ = f.Close() }()
	head, err := io.ReadAll(io.LimitReader(f, headMax))
	if err != nil {
		return fmt.Errorf("what stands there cannot be read: %w", err)
	}
	if len(head) == 0 {
		return nil
	}
	for _, mark := range marks {
		if !bytes.Contains(head, []byte(mark)) {
			return errors.New("stands there, and is no result of this kind: remove it, name another file, or give the place with --out")
		}
	}
	return nil
}
