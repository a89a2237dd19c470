package scenarios_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"hyperscale/scenarios"
)

// mutant is one planted bug, as a file of testdata/mutants tells it.
type mutant struct {
	name     string
	about    string
	scenario string
	seed     uint64
	expect   string // a word of the verdict's detail: "T8", "bug:"
	changes  []change
}

// change is a piece of code and what is planted in its place.
type change struct {
	file    string // below the repository's root
	find    string
	replace string
}

const root = ".."

func mutants(t *testing.T) []mutant {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "testdata", "mutants", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no mutants found: %v", err)
	}
	var all []mutant
	for _, f := range files {
		m, err := parseMutant(f)
		if err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		all = append(all, m)
	}
	return all
}

// parseMutant reads comments, then `key: value` lines, then one or more pairs of
// `--- find` and `--- replace`. A line `file:` holds for the pairs after it, and may
// stand between them.
func parseMutant(file string) (mutant, error) {
	m := mutant{name: strings.TrimSuffix(filepath.Base(file), ".txt")}
	text, err := os.ReadFile(file)
	if err != nil {
		return m, err
	}
	var source string
	var into *string
	for line := range strings.Lines(string(text)) {
		key, value, pair := strings.Cut(strings.TrimSpace(line), ": ")
		switch {
		case line == "--- find\n":
			m.changes = append(m.changes, change{file: source})
			into = &m.changes[len(m.changes)-1].find
		case line == "--- replace\n" && into != nil:
			into = &m.changes[len(m.changes)-1].replace
		case pair && key == "file" && strings.HasPrefix(line, key):
			source = value
		case into != nil:
			*into += line
		case strings.HasPrefix(line, "#"):
			m.about += strings.TrimPrefix(strings.TrimSpace(line), "# ") + " "
		case key == "scenario":
			m.scenario = value
		case key == "expect":
			m.expect = value
		case key == "seed":
			if m.seed, err = strconv.ParseUint(value, 10, 64); err != nil {
				return m, err
			}
		case strings.TrimSpace(line) != "":
			return m, fmt.Errorf("line %q: want file, scenario, seed or expect", line)
		}
	}
	if len(m.changes) == 0 {
		return m, fmt.Errorf("no line `--- find`")
	}
	return m, nil
}

// overlay plants the bug and returns the file that go reads with -overlay.
func (m mutant) overlay(t *testing.T) string {
	t.Helper()
	sources := map[string]string{}
	for _, c := range m.changes {
		path, err := filepath.Abs(filepath.Join(root, c.file))
		if err != nil {
			t.Fatal(err)
		}
		if sources[path] == "" {
			source, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			sources[path] = string(source)
		}
		if n := strings.Count(sources[path], c.find); n != 1 {
			t.Fatalf("%s: the code to change occurs %d times in %s, want once: the code has moved on, move the mutant too\n%s", m.name, n, c.file, c.find)
		}
		sources[path] = strings.Replace(sources[path], c.find, c.replace, 1)
	}
	dir := t.TempDir()
	replace := map[string]string{}
	//lint:orderfree go reads them as a set
	for path, source := range sources {
		planted := filepath.Join(dir, fmt.Sprintf("planted%d.go", len(replace)))
		if err := os.WriteFile(planted, []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
		replace[path] = planted
	}
	text, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// Each mutant still fits the code, in every `go test`.
func TestPlantedBugsFitTheCode(t *testing.T) {
	for _, m := range mutants(t) {
		t.Run(m.name, func(t *testing.T) {
			m.overlay(t)
			if m.about == "" || m.expect == "" || m.scenario == "" {
				t.Error("a mutant needs a sentence, a scenario and what it must break")
			}
		})
	}
}

// planted is the environment's name for the run of one world: what a binary with
// a planted bug is started for. Only this package and the roles are in it, as
// linking the whole product for every bug takes longer than playing.
const planted = "HYPERSCALE_PLANTED"

// TestPlanted plays one world and prints how it ended.
func TestPlanted(t *testing.T) {
	var name string
	var seed uint64
	if n, _ := fmt.Sscan(os.Getenv(planted), &name, &seed); n != 2 {
		t.Skip("TestMutantsAreCaught runs this in a process of its own")
	}
	s, err := scenarios.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	r := s.Run(scenarios.Options{Seed: seed})
	fmt.Printf("\nverdict: %v: %s\n", r.Outcome, r.Detail)
}

// plant builds the test binary with the bug in it.
func (m mutant) plant(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "planted")
	if out, err := exec.Command("go", "test", "-c", "-overlay", m.overlay(t), "-o", bin, "hyperscale/scenarios").CombinedOutput(); err != nil {
		t.Fatalf("build with %s planted: %v\n%s", m.name, err, out)
	}
	return bin
}

// playPlanted returns how a world ended in that binary, and why.
func playPlanted(t *testing.T, bin, scenario string, seed uint64) (outcome, detail string) {
	t.Helper()
	cmd := exec.Command(bin, "-test.run=^TestPlanted$")
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d", planted, scenario, seed))
	out, err := cmd.CombinedOutput()
	_, verdict, ok := strings.Cut(string(out), "\nverdict: ")
	if !ok {
		t.Fatalf("%s, seed %d: %v\n%s", scenario, seed, err, out)
	}
	verdict, _, _ = strings.Cut(verdict, "\n")
	outcome, detail, _ = strings.Cut(verdict, ": ")
	return outcome, detail
}

// triesMin is how many seeds are tried when the recorded one shows a bug no more.
// A change of any role moves every schedule: what must stay is that the bug is
// caught, not that it is on this very seed.
const triesMin = 40

// Each planted bug is caught on its recorded seed, or else on one of the first
// ones; HYPERSCALE_MUTANTS_TRIES=N tries more of them than triesMin.
func TestMutantsAreCaught(t *testing.T) {
	tries, _ := strconv.ParseUint(os.Getenv("HYPERSCALE_MUTANTS_TRIES"), 10, 64)
	if tries == 0 {
		t.Skip("`make mutants` runs this: it takes minutes")
	}
	tries = max(tries, triesMin)
	for _, m := range mutants(t) {
		t.Run(m.name, func(t *testing.T) {
			bin := m.plant(t)
			for try := range tries {
				seed := m.seed
				if try > 0 {
					seed = try
				}
				outcome, detail := playPlanted(t, bin, m.scenario, seed)
				if outcome != string(scenarios.OK) && strings.Contains(detail, m.expect) {
					t.Logf("caught by %s, seed %d: %s: %s", m.scenario, seed, outcome, detail)
					if seed != m.seed {
						t.Logf("record seed %d instead of %d, which shows it no more", seed, m.seed)
					}
					return
				}
				if outcome != string(scenarios.OK) {
					t.Logf("seed %d broke something else: %s: %s", seed, outcome, detail)
				}
			}
			t.Errorf("survived %d tries of %s from seed %d: %s", tries, m.scenario, m.seed, m.about)
		})
	}
}
