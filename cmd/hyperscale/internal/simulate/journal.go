package simulate

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/scenarios"
)

// journalName is the file in a swarm's folder that holds the finished runs.
const journalName = "swarm.jsonl"

// journalHead is its first line: results of another program are not its own.
type journalHead struct {
	Schema  string        `json:"schema"`
	Build   string        `json:"build"`
	Virtual time.Duration `json:"virtual_ns"`
	Wire    bool          `json:"wire,omitempty"`
}

const journalSchema = "hyperscale.swarm/v1"

// journalBefore is its second line, unless it is empty: what programs before found.
type journalBefore struct {
	Before []simResult      `json:"before"`  // their failures that have not ended well since
	Costs  map[string]int64 `json:"cost_us"` // what a run of each world took
}

// runKey names one run of a swarm.
type runKey struct {
	scenario string
	seed     uint64
}

// journal remembers finished runs, so that a swarm can continue where it stopped.
type journal struct {
	file   *os.File
	done   map[runKey]simResult
	begun  map[runKey]bool          // started in addition to the plan
	tiny   []simResult              // the small forms of failures
	before []simResult              // failures of programs before
	costs  map[string]time.Duration // of a run of each world, as they knew
	over   int                      // results of another program that do not count
}

// buildID identifies this build of the program.
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
func openJournal(dir string, virtual time.Duration, wire bool) (*journal, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, command.Usage("--out: %w: choose a folder that can be written", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, journalName), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, command.Usage("--out: %w: choose a folder that can be written", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close() // nothing was written
		return nil, command.Usage("--out %s: another swarm writes there: wait for it, or choose another folder", dir)
	}
	j := &journal{file: f, done: map[runKey]simResult{}, begun: map[runKey]bool{}, costs: map[string]time.Duration{}}
	if err := j.load(virtual, wire); err != nil {
		_ = f.Close() // the first error is the one to report
		return nil, fmt.Errorf("journal of --out %s: %w", dir, err)
	}
	return j, nil
}

// load reads the file and moves to its end after the last whole line.
func (j *journal) load(virtual time.Duration, wire bool) error {
	build, err := buildID()
	if err != nil {
		return err
	}
	head := journalHead{journalSchema, build, virtual, wire}
	good, ours, err := j.read(head)
	if err != nil {
		return err
	}
	if !ours {
		return j.begin(head)
	}
	if err := j.file.Truncate(good); err != nil {
		return err
	}
	_, err = j.file.Seek(good, io.SeekStart)
	return err
}

// read collects the results, and returns how many bytes of the file are whole lines and
// whether the same program wrote them.
func (j *journal) read(want journalHead) (good int64, ours bool, err error) {
	lines := bufio.NewReader(j.file)
	for n := 0; ; n++ {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			if !errors.Is(err, io.EOF) {
				return 0, ours, err
			}
			break // a line that was cut short is played again
		}
		if n == 0 {
			var head journalHead
			ours = json.Unmarshal(line, &head) == nil && head == want
		} else if err := j.take(line); err != nil {
			break // from here on it is played again
		}
		good += int64(len(line))
	}
	return good, ours, nil
}

func (j *journal) take(line []byte) error {
	if bytes.HasPrefix(line, []byte(`{"before":`)) {
		var b journalBefore
		if err := json.Unmarshal(line, &b); err != nil {
			return err
		}
		j.before = b.Before
		//lint:orderfree each is of its own world
		for name, us := range b.Costs {
			j.costs[name] = time.Duration(us) * time.Microsecond
		}
		return nil
	}
	var r simResult
	if err := json.Unmarshal(line, &r); err != nil {
		return err
	}
	if r.Shrunk != "" {
		j.tiny = append(j.tiny, r)
		return nil
	}
	j.done[runKey{r.Scenario, r.Seed}] = r
	return nil
}

// begin replaces the file of another program by one that keeps its failures and costs.
// The old file stays whole until the new one is.
func (j *journal) begin(head journalHead) error {
	before := j.inherit()
	name := j.file.Name()
	f, err := os.OpenFile(name+".new", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	old := j.file
	j.file = f
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		err = j.write(head)
	}
	if err == nil && len(before.Before)+len(before.Costs) > 0 {
		err = j.write(before)
	}
	if err == nil {
		err = os.Rename(name+".new", name)
	}
	if err != nil {
		_ = f.Close() // the first error is the one to report
		j.file = old
		return err
	}
	return old.Close()
}

// inherit makes of another program's results what this one keeps of them.
func (j *journal) inherit() journalBefore {
	b := journalBefore{Costs: map[string]int64{}}
	took := map[string]*cost{}
	kept := map[runKey]bool{}
	for _, r := range append(j.sorted(), j.before...) {
		key := runKey{r.Scenario, r.Seed}
		if last, again := j.done[key]; kept[key] || r.Verdict == scenarios.OK || again && last.Verdict == scenarios.OK {
			continue
		}
		kept[key] = true
		r.Reached = nil
		b.Before = append(b.Before, r)
	}
	for _, r := range j.sorted() {
		if took[r.Scenario] == nil {
			took[r.Scenario] = &cost{}
		}
		took[r.Scenario].add(time.Duration(r.RealMS) * time.Millisecond)
	}
	//lint:orderfree each is of its own world
	for name, c := range took {
		j.costs[name] = c.mean()
	}
	//lint:orderfree each is of its own world
	for name, c := range j.costs {
		b.Costs[name] = c.Microseconds()
	}
	j.over, j.before, j.done, j.tiny = len(j.done), b.Before, map[runKey]simResult{}, nil
	return b
}

// sorted lists the finished runs, by scenario and seed.
func (j *journal) sorted() []simResult {
	all := slices.Collect(maps.Values(j.done))
	slices.SortFunc(all, func(a, b simResult) int {
		return cmp.Or(cmp.Compare(a.Scenario, b.Scenario), cmp.Compare(a.Seed, b.Seed))
	})
	return all
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

// find returns the journal's entry of a run.
func (j *journal) find(scenario string, seed uint64) (simResult, bool) {
	if j == nil {
		return simResult{}, false
	}
	r, ok := j.done[runKey{scenario, seed}]
	return r, ok
}

// knows says whether a run is finished, or was started in addition to the plan.
func (j *journal) knows(key runKey) bool {
	if j == nil {
		return false
	}
	_, done := j.done[key]
	return done || j.begun[key]
}

// mark records that a run was started in addition to the plan.
func (j *journal) mark(key runKey) { j.begun[key] = true }

func (j *journal) close() {
	if j != nil {
		_ = j.file.Close() // every line was written, and its error reported
	}
}
