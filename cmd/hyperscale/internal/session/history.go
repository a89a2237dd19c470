package session

import (
	"fmt"
	"hyperscale/cmd/hyperscale/internal/command"
	"io"
	"os"
)

// OpenHistory opens a file that events are appended to, behind the line that a
// process that was killed has not ended. An error names the flag that gave the path.
func OpenHistory(flag, path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err == nil {
		err = endLine(f)
	}
	if err != nil {
		return nil, command.AsUsage(fmt.Errorf("--%s %s cannot be written: choose another file: %w", flag, path, err))
	}
	return f, nil
}

// endLine ends the last line of a file that ends within it. What cannot be read at
// an offset, a pipe, say, has none.
func endLine(f *os.File) error {
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil || end == 0 {
		return nil
	}
	last := []byte{'\n'}
	if _, err := f.ReadAt(last, end-1); err != nil || last[0] == '\n' {
		return err
	}
	_, err = f.Write([]byte{'\n'})
	return err
}
