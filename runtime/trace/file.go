package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"

	"hyperscale/core/message"
)

// FileMax bounds the lines of a file, in bytes.
const FileMax = 256 << 20

// DefaultName is the file that gets the samples if none is named.
const DefaultName = "trace.jsonl"

// Parse reads what --trace says: 1/1000, or 1/1000=FILE.
func Parse(text string) (every uint64, name string, err error) {
	share, name, named := strings.Cut(text, "=")
	if !named {
		name = DefaultName
	}
	one, of, _ := strings.Cut(share, "/")
	every, err = strconv.ParseUint(of, 10, 64)
	if one != "1" || err != nil || every == 0 || every > math.MaxInt64 || name == "" {
		return 0, "", fmt.Errorf("--trace = %q: write 1/N or 1/N=FILE, such as 1/1000 for the requests of one iteration in a thousand", text)
	}
	return every, name, nil
}

// File gets the samples of all executors. A nil File gets none.
type File struct {
	every uint64

	mu      sync.Mutex
	file    *os.File
	size    int
	summary Summary
	err     error // of the first write that failed
}

// Summary is the last line of a file.
type Summary struct {
	Summary    bool   `json:"summary"`    // always true: no other line has it
	Every      uint64 `json:"every"`      // one iteration of that many was sampled
	Sampled    uint64 `json:"sampled"`    // requests, by executors that have ended in order
	Written    uint64 `json:"written"`    // lines of this file, before this one
	LeftOut    uint64 `json:"left_out"`   // sampled, and without a line: they exceeded a bound
	Unfinished uint64 `json:"unfinished"` // executors that did not say how many they left out
}

// Create begins a file, which only its owner may read.
func Create(name string, every uint64) (*File, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		if err := f.Chmod(0o600); err != nil { // an older file may have another mode
			return nil, errors.Join(err, f.Close())
		}
	}
	return &File{every: every, file: f, summary: Summary{Summary: true, Every: every}}, nil
}

// Begin notes that an executor begins, and returns how rarely it samples; zero: never.
func (f *File) Begin() uint64 {
	if f == nil {
		return 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.summary.Unfinished++
	return f.every
}

// Take writes the lines of an executor.
func (f *File) Take(m *message.ExecTrace) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	s := &f.summary
	if m.Last {
		s.Unfinished--
		s.Sampled, s.LeftOut = s.Sampled+m.Sampled, s.LeftOut+m.LeftOut
	}
	count := uint64(bytes.Count(m.Lines, []byte{'\n'}))
	if f.err == nil && f.size+len(m.Lines) <= FileMax {
		n, err := f.file.Write(m.Lines)
		if f.size, f.err = f.size+n, err; err == nil {
			s.Written += count
			return
		}
	}
	s.LeftOut += count
}

// Close writes the summary.
func (f *File) Close() (Summary, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	last, err := json.Marshal(f.summary)
	if f.err == nil && err == nil {
		_, f.err = f.file.Write(append(last, '\n'))
	}
	return f.summary, errors.Join(f.err, err, f.file.Close())
}
