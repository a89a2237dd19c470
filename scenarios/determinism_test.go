package scenarios_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"hyperscale/scenarios"
	"hyperscale/sim"
)

// binary builds the product once for a test that runs it in its own processes.
func binary(t *testing.T, args ...string) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "hyperscale")
	cmd := exec.Command("go", append([]string{"build", "-o", bin}, append(args, "hyperscale/cmd/hyperscale")...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return bin
}

// verdict is the line that `sim run --json` prints.
type verdict struct {
	Scenario string `json:"scenario"`
	Seed     uint64 `json:"seed"`
	Hash     string `json:"hash"`
	Events   uint64 `json:"events"`
	Verdict  string `json:"verdict"`
	Detail   string `json:"detail"`
}

// collectLess makes the garbage collector run when the heap is five times the live set: worlds
// are small, and collection took a quarter of their time.
const collectLess = "GOGC=400"

// play runs one seed in its own process.
func play(bin string, env []string, args ...string) (verdict, error) {
	cmd := exec.Command(bin, append([]string{"sim", "run", "--json"}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	var errors strings.Builder
	cmd.Stderr = &errors
	out, err := cmd.Output()
	var v verdict
	if jsonErr := json.Unmarshal(out, &v); jsonErr != nil {
		return v, fmt.Errorf("%v: %w\n%s%s", args, err, out, errors.String())
	}
	return v, nil
}

// tracedEvery is the number of seeds per traced one: a traced run takes three times as long as
// one without.
const tracedEvery = 10

// crowded are worlds of thousands of nodes that take longer than all others together: they are
// played for a shorter time.
var crowded = map[string]bool{"reconnect-flood": true, "lossy-few": true, "submit-storm": true}

// The hash must not depend on the number of threads, on an observer, or on the encoding of
// messages. Each run has its own process, so that no per-process seed can hide a difference.
func TestDeterminismAcrossProcesses(t *testing.T) {
	seeds, _ := strconv.ParseUint(os.Getenv("HYPERSCALE_DETERMINISM_SEEDS"), 10, 32)
	if seeds == 0 {
		t.Skip("`make determinism` runs this: it takes minutes")
	}
	from := uint64(1)
	if fresh := os.Getenv("HYPERSCALE_DETERMINISM_FRESH"); fresh != "" { // seeds of a commit: its name draws them
		h := fnv.New32a()
		_, _ = h.Write([]byte(fresh))
		from = uint64(h.Sum32())
		t.Logf("seeds %d to %d", from, from+seeds-1)
	}
	bin := binary(t)
	work := make(chan func())
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			for f := range work {
				f()
			}
		})
	}
	for _, s := range scenarios.All() {
		for n := range seeds {
			seed, traced, virtual := from+n, n%tracedEvery == 0, "30s"
			if s.Name == "gossip" || crowded[s.Name] && !traced {
				virtual = "5s"
			} else if crowded[s.Name] {
				virtual = "10s"
			}
			how := "--until" // the beginning of a directed world; any other world is played in short
			if d, err := time.ParseDuration(virtual); err == nil && s.Check(d) == nil {
				how = "--virtual"
			}
			work <- func() {
				compare(t, bin, []string{s.Name, "--seed", strconv.FormatUint(seed, 10), how, virtual}, traced)
			}
		}
	}
	close(work)
	group.Wait()
}

// way is how a seed is played: the number of threads, and the options.
type way struct {
	threads string
	args    []string
}

// compare plays one run, args of `sim run`, in every way.
func compare(t *testing.T, bin string, args []string, traced bool) {
	trace := filepath.Join(t.TempDir(), args[0]+args[2]+".jsonl")
	ways := []way{
		{"2", nil},
		{"1", []string{"--wire"}},
	}
	if traced {
		ways = append(ways, way{"4", []string{"--trace", trace}}, way{"4", []string{"--wire", "--trace", trace}})
	}
	var base verdict
	for i, config := range ways {
		got, err := play(bin, []string{"GOMAXPROCS=" + config.threads, collectLess}, append(args, config.args...)...)
		if err != nil {
			t.Error(err)
			return
		}
		if i == 0 {
			base = got
			continue
		}
		if got.Hash != base.Hash || got.Events != base.Events {
			t.Errorf("%v: GOMAXPROCS=%s %v gave hash %s after %d events, the plain run %s after %d\n%s",
				args, config.threads, config.args, got.Hash, got.Events, base.Hash, base.Events, firstDifference(bin, args, config.args, trace))
		}
	}
	_ = os.Remove(trace) // the next seed writes its own
}

// firstDifference traces both runs and returns the first event that differs.
func firstDifference(bin string, args, other []string, trace string) string {
	if len(other) == 0 {
		return ""
	}
	a, b := trace+".a", trace+".b"
	wire := []string{}
	for _, arg := range other {
		if arg == "--wire" {
			wire = append(wire, arg)
		}
	}
	if _, err := play(bin, nil, append(append([]string{}, args...), "--trace", a)...); err != nil {
		return err.Error()
	}
	if _, err := play(bin, nil, append(append(append([]string{}, args...), wire...), "--trace", b)...); err != nil {
		return err.Error()
	}
	fa, _ := os.Open(a)
	fb, _ := os.Open(b)
	defer fa.Close()
	defer fb.Close()
	la, lb := bufio.NewScanner(fa), bufio.NewScanner(fb)
	for n := 1; la.Scan() && lb.Scan(); n++ {
		if la.Text() != lb.Text() {
			return fmt.Sprintf("first difference in line %d of the traces:\n%s\n%s", n, la.Text(), lb.Text())
		}
	}
	return "the traces of a second try are equal: something outside the seed decides"
}

// The quick form for every `go test`: the same seed twice in one process, and once with every
// message encoded.
func TestDeterminismInOneProcess(t *testing.T) {
	for _, s := range scenarios.All() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			virtual := s.Virtual / 10
			if s.Name == "gossip" {
				virtual = s.Virtual / 100
			}
			first := s.Run(scenarios.Options{Seed: 7, Virtual: virtual})
			again := s.Run(scenarios.Options{Seed: 7, Virtual: virtual, Wire: true, Faults: append([]sim.Fault{}, first.Faults...)}) // as sim replay does
			if first.Hash != again.Hash {
				t.Errorf("hashes: %x, replayed and encoded %x", first.Hash, again.Hash)
			}
			if other := s.Run(scenarios.Options{Seed: 8, Virtual: virtual}); other.Hash == first.Hash {
				t.Errorf("seeds 7 and 8 have one hash %x", first.Hash)
			}
			if first.Events == 0 {
				t.Error("nothing happened")
			}
		})
	}
}
