package outputs

import (
	"fmt"
	"os"
)

// lettersMax bounds the file of a sink's dead letters.
const lettersMax = 16 << 20

// letters writes rows that a place rejects to a file, as lines of JSON.
type letters struct {
	file  string // empty: rows are counted only
	out   *os.File
	bytes int
	err   error
}

// add appends a row. Fault reports what fails.
func (l *letters) add(r *Row, why string) {
	if l.file == "" || l.err != nil {
		return
	}
	if l.out == nil {
		if l.out, l.err = os.OpenFile(l.file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600); l.err != nil {
			return
		}
		at, err := l.out.Stat()
		if l.err = err; err != nil {
			return
		}
		l.bytes = int(at.Size())
	}
	line := append(appendLetter(nil, r, why), '\n')
	if l.bytes+len(line) > lettersMax {
		l.err = fmt.Errorf("dead_letters = %q has reached %d bytes: move it away", l.file, lettersMax)
		return
	}
	n, err := l.out.Write(line)
	l.bytes, l.err = l.bytes+n, err
}

func (l *letters) fault() error {
	if l.err != nil {
		return fmt.Errorf("rejected rows are not kept: %w", l.err)
	}
	return nil
}

func (l *letters) close() {
	if l.out != nil {
		l.err = l.out.Close()
	}
}
