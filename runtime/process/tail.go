package process

import (
	"bufio"
	"io"
	"strings"
)

// Bounds of what is kept of a program's stderr.
const (
	TailLines = 20
	TailBytes = 3 << 10
)

// tail keeps the last lines that are read. Its lines are whole, but for long ones, which are cut.
type tail struct {
	lines []string
	size  int
}

// read reads to the end.
func (t *tail) read(from io.Reader) {
	r := bufio.NewReaderSize(from, TailBytes)
	for {
		line, long, err := r.ReadLine()
		if err != nil {
			return
		}
		t.keep(string(line))
		for long && err == nil {
			_, long, err = r.ReadLine()
		}
	}
}

func (t *tail) keep(line string) {
	t.lines = append(t.lines, line)
	t.size += len(line) + 1
	for len(t.lines) > TailLines || t.size > TailBytes && len(t.lines) > 1 {
		t.size -= len(t.lines[0]) + 1
		t.lines = t.lines[1:]
	}
}

// String is the lines, without what is no text.
func (t *tail) String() string { return strings.ToValidUTF8(strings.Join(t.lines, "\n"), "?") }
