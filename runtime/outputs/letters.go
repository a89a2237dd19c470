package outputs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
)

// lettersMax bounds the file of a sink's dead letters.
const lettersMax = 16 << 20

// letters writes rows that a place rejects to a file, as lines of JSON. A disk that hangs holds up only who writes.
type letters struct {
	file    string       // empty: rows are counted only
	waiting atomic.Int64 // rows that no write has ended for
	err     atomic.Pointer[error]

	mu    sync.Mutex // of all below
	out   *os.File
	bytes int
}

// check finds out before the run whether the file can be written. It makes none.
func (l *letters) check() error {
	if l.file == "" {
		return nil
	}
	if folder := filepath.Dir(l.file); folder != "." {
		if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("dead_letters = %q: folder %s does not exist: create it first", l.file, folder)
		}
	}
	f, size, err := openLetters(l.file, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil || size < lettersMax {
		return err
	}
	return l.full()
}

func (l *letters) full() error {
	return fmt.Errorf("dead_letters = %q has reached %d bytes: move it away", l.file, lettersMax)
}

// openLetters opens a regular file; others may never end a write.
func openLetters(name string, how int) (*os.File, int, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_APPEND|syscall.O_NONBLOCK|how, 0o600)
	if err != nil && !errors.Is(err, syscall.ENXIO) { // a pipe that nothing reads
		return nil, 0, fmt.Errorf("dead_letters = %q: name another file: %w", name, err)
	}
	irregular := fmt.Errorf("dead_letters = %q is no regular file: name one", name)
	if err != nil {
		return nil, 0, irregular
	}
	at, err := f.Stat()
	if err == nil && !at.Mode().IsRegular() {
		err = irregular
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, int(at.Size()), nil
}

// add appends rows. Fault reports what fails.
func (l *letters) add(rows []*Row, why string) {
	if l.file == "" || len(rows) == 0 {
		return
	}
	l.waiting.Add(int64(len(rows)))
	defer l.waiting.Add(-int64(len(rows)))
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range rows {
		if l.err.Load() != nil {
			return
		}
		if err := l.write(r, why); err != nil {
			l.err.Store(&err)
		}
	}
}

func (l *letters) write(r *Row, why string) (err error) {
	if l.out == nil {
		if l.out, l.bytes, err = openLetters(l.file, os.O_CREATE); err != nil {
			return err
		}
		if l.bytes, err = cutTorn(l.out, l.bytes); err != nil {
			return err
		}
	}
	line := append(appendLetter(nil, r, why), '\n')
	if l.bytes+len(line) > lettersMax {
		return l.full()
	}
	if n, err := l.out.Write(line); err != nil {
		if n > 0 { // the next line would stand behind a torn one
			err = errors.Join(err, l.out.Truncate(int64(l.bytes)))
		}
		return err
	}
	l.bytes += len(line)
	return nil
}

// cutTorn cuts what stands behind the last end of a line, which a process that was killed has left, and returns the size.
func cutTorn(f *os.File, size int) (int, error) {
	tail := make([]byte, min(size, lineMax))
	if _, err := f.ReadAt(tail, int64(size-len(tail))); err != nil {
		return size, err
	}
	torn := len(tail) - 1 - bytes.LastIndexByte(tail, '\n')
	if torn == 0 || torn == len(tail) && size > len(tail) { // the latter is no file of ours, and replay says so
		return size, nil
	}
	return size - torn, f.Truncate(int64(size - torn))
}

// fault says why rejected rows are not in the file. It never waits.
func (l *letters) fault() error {
	if err := l.err.Load(); err != nil {
		return fmt.Errorf("rejected rows are not kept: %w", *err)
	}
	if n := l.waiting.Load(); n > 0 {
		return fmt.Errorf("%d rejected rows are not kept yet: dead_letters = %q does not take them", n, l.file)
	}
	return nil
}

// close follows the last add.
func (l *letters) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.out == nil {
		return
	}
	if err := l.out.Close(); err != nil {
		l.err.Store(&err)
	}
}
