package tokens

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// lookEvery is how often a file is looked at for a change.
const lookEvery = time.Second

// File is where a gate reads its tokens. It is read again when it changes.
type File struct {
	path   string
	clock  func() time.Time
	report func(error) // gets a fault of a changed file; nil: none

	mu     sync.Mutex
	looked time.Time
	seen   os.FileInfo
	all    []Token
}

// Open reads a file. report gets what is wrong with later changes.
func Open(path string, clock func() time.Time, report func(error)) (*File, error) {
	f := &File{path: path, clock: clock, report: report}
	if err := f.read(); err != nil {
		return nil, err
	}
	f.looked = clock()
	return f, nil
}

// Find returns the token of a text, if it has not ended.
func (f *File) Find(text string) (Token, bool) {
	now := f.clock()
	t, ok := find(f.now(now), text)
	if !ok || !t.Until.IsZero() && !now.Before(t.Until) {
		return Token{}, false
	}
	return t, true
}

// now returns the tokens that count, after a look at the file if one is due.
func (f *File) now(now time.Time) []Token {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now.Sub(f.looked) < lookEvery && !now.Before(f.looked) {
		return f.all
	}
	f.looked = now
	info, err := os.Stat(f.path)
	if err != nil || same(info, f.seen) { // one that is away has not changed
		return f.all
	}
	f.seen = info // what cannot be read is reported once
	if err := f.read(); err != nil && f.report != nil {
		f.report(err)
	}
	return f.all
}

func same(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size() && a.Mode() == b.Mode()
}

// read takes what stands in the file. After an error the tokens stay as they were.
func (f *File) read() error {
	in, err := os.Open(f.path)
	if err != nil {
		return fmt.Errorf("tokens of the API: %w: correct --api-tokens", err)
	}
	defer func() { _ = in.Close() }() // it was only read
	info, err := in.Stat()
	if err != nil {
		return fmt.Errorf("tokens of the API: %w: correct --api-tokens", err)
	}
	f.seen = info
	if !info.Mode().IsRegular() {
		return fmt.Errorf("tokens of the API: %s is no regular file: give the file itself to --api-tokens", f.path)
	}
	if loose := info.Mode().Perm() & 0o022; loose != 0 {
		return fmt.Errorf("tokens of the API: %s has mode %04o, others must not write it: chmod 0600 %s", f.path, info.Mode().Perm(), f.path)
	}
	text, err := io.ReadAll(io.LimitReader(in, textMax+1))
	if err != nil {
		return fmt.Errorf("tokens of the API: %w: correct --api-tokens", err)
	}
	all, err := Parse(text)
	if err != nil {
		return fmt.Errorf("tokens of the API: %s: %w", f.path, err)
	}
	f.all = all
	return nil
}

// Add appends a token to a file, which it makes if there is none. A reader sees the old lines or the new. Mode and owner of a file
// stay as they are. Adds in one folder wait for each other.
func Add(path string, t Token) error {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer func() { _ = folder.Close() }() // gives the lock back
	if err := syscall.Flock(int(folder.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("lock the folder of %s: %w", path, err)
	}
	text, err := os.ReadFile(path)
	mode, own := os.FileMode(0o600), func(*os.File) error { return nil }
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		mode = info.Mode().Perm()
		if of, ok := info.Sys().(*syscall.Stat_t); ok {
			own = func(part *os.File) error { return part.Chown(int(of.Uid), int(of.Gid)) }
		}
	}
	if n := len(text); n > 0 && text[n-1] != '\n' {
		text = append(text, '\n')
	}
	text = append(text, t.Line()+"\n"...)
	if _, err := Parse(text); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	part, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(part.Name()) }() // gone already when all went well
	_, err = part.Write(text)
	if err := own(part); err != nil {
		_ = part.Close() // the error of the owner says enough
		return fmt.Errorf("keep the owner of %s: %w: run `hyperscale token new` as that user", path, err)
	}
	if err = errors.Join(err, part.Chmod(mode), part.Sync(), part.Close()); err != nil {
		return err
	}
	return os.Rename(part.Name(), path)
}
