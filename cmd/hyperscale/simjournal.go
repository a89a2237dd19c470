package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// journalName is the file of a swarm's folder that holds what is done.
const journalName = "swarm.jsonl"

// journalHead is its first line: results of another program are not its own.
type journalHead struct {
	Schema  string        `json:"schema"`
	Build   string        `json:"build"`
	Virtual time.Duration `json:"virtual_ns"`
}

const journalSchema = "hyperscale.swarm/v1"

// runKey names one run of a swarm.
type runKey struct {
	scenario string
	seed     uint64
}

// journal remembers finished runs, so that a swarm can go on where it stopped.
type journal struct {
	file *os.File
	done map[runKey]simResult
	tiny []simResult // what was made of failures
	over int         // results of another program that were dropped
}

// buildID tells this program from every other one.
func buildID() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(self)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// openJournal reads the journal of a folder, or begins one.
func openJournal(dir string, virtual time.Duration) (*journal, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, usage("--out: %w: choose a folder that can be written", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, journalName), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, usage("--out: %w: choose a folder that can be written", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close() // nothing was written
		return nil, usage("--out %s: another swarm writes there: wait for it, or choose another folder", dir)
	}
	j := &journal{file: f, done: map[runKey]simResult{}}
	if err := j.load(virtual); err != nil {
		_ = f.Close() // the error that is told is the first
		return nil, fmt.Errorf("journal of --out %s: %w", dir, err)
	}
	return j, nil
}

// load reads what is there and leaves the file's end behind the last whole line.
func (j *journal) load(virtual time.Duration) error {
	build, err := buildID()
	if err != nil {
		return err
	}
	head := journalHead{journalSchema, build, virtual}
	good, err := j.read(head)
	if err != nil {
		return err
	}
	if err := j.file.Truncate(good); err != nil {
		return err
	}
	if _, err := j.file.Seek(good, io.SeekStart); err != nil {
		return err
	}
	if good > 0 {
		return nil
	}
	return j.write(head)
}

// read collects the results of the same program and returns how many bytes of
// the file are to stay. What another program left is removed, failures included.
func (j *journal) read(want journalHead) (good int64, err error) {
	lines := bufio.NewReader(j.file)
	ours := false
	for n := 0; ; n++ {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			if !errors.Is(err, io.EOF) {
				return 0, err
			}
			break // a line that was cut short is played again
		}
		if n == 0 {
			var head journalHead
			ours = json.Unmarshal(line, &head) == nil && head == want
		} else if err := j.take(line, ours); err != nil {
			return good, nil // from here on it is played again
		}
		if ours {
			good += int64(len(line))
		}
	}
	return good, nil
}

func (j *journal) take(line []byte, ours bool) error {
	var r simResult
	if err := json.Unmarshal(line, &r); err != nil {
		return err
	}
	if ours && r.Shrunk != "" {
		j.tiny = append(j.tiny, r)
		return nil
	}
	if ours {
		j.done[runKey{r.Scenario, r.Seed}] = r
		return nil
	}
	if r.Shrunk == "" {
		j.over++
	}
	dir := filepath.Dir(j.file.Name())
	for _, f := range r.Files {
		if filepath.Dir(f) == dir {
			_ = os.Remove(f) // it may be gone already
		}
	}
	return nil
}

// add remembers a result. A nil journal remembers nothing.
func (j *journal) add(r simResult) error {
	if j == nil {
		return nil
	}
	return j.write(r)
}

func (j *journal) write(v any) error {
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(v); err != nil {
		return err
	}
	if _, err := j.file.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write %s: %w", j.file.Name(), err)
	}
	return nil
}

// find returns what is known of a run.
func (j *journal) find(scenario string, seed uint64) (simResult, bool) {
	if j == nil {
		return simResult{}, false
	}
	r, ok := j.done[runKey{scenario, seed}]
	return r, ok
}

func (j *journal) close() {
	if j != nil {
		_ = j.file.Close() // every line was written, and its error told
	}
}
