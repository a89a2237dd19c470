package scenarios_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// mutant is one planted bug, as a file of testdata/mutants tells it.
type mutant struct {
	name     string
	about    string
	file     string // below the repository's root
	scenario string
	seed     uint64
	expect   string // a word of the verdict's detail: "T8", "bug:"
	find     string
	replace  string
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

func parseMutant(file string) (mutant, error) {
	m := mutant{name: strings.TrimSuffix(filepath.Base(file), ".txt")}
	text, err := os.ReadFile(file)
	if err != nil {
		return m, err
	}
	head, body, ok := strings.Cut(string(text), "--- find\n")
	if !ok {
		return m, fmt.Errorf("no line `--- find`")
	}
	if m.find, m.replace, ok = strings.Cut(body, "--- replace\n"); !ok {
		return m, fmt.Errorf("no line `--- replace`")
	}
	for line := range strings.Lines(head) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch {
		case strings.HasPrefix(line, "#"):
			m.about += strings.TrimPrefix(strings.TrimSpace(line), "# ") + " "
		case key == "file":
			m.file = value
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
	return m, nil
}

// overlay plants the bug and returns the file that go build reads with -overlay.
func (m mutant) overlay(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(root, m.file))
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(source), m.find); n != 1 {
		t.Fatalf("%s: the code to change occurs %d times in %s, want once: the code has moved on, move the mutant too", m.name, n, m.file)
	}
	dir := t.TempDir()
	planted := filepath.Join(dir, "planted.go")
	if err := os.WriteFile(planted, []byte(strings.Replace(string(source), m.find, m.replace, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(map[string]map[string]string{"Replace": {path: planted}})
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

// Each planted bug is caught on its recorded seed, or, with
// HYPERSCALE_MUTANTS_TRIES=N, within N seeds.
func TestMutantsAreCaught(t *testing.T) {
	tries, _ := strconv.ParseUint(os.Getenv("HYPERSCALE_MUTANTS_TRIES"), 10, 64)
	if tries == 0 {
		t.Skip("`make mutants` runs this: it takes minutes")
	}
	for _, m := range mutants(t) {
		t.Run(m.name, func(t *testing.T) {
			bin := binary(t, "-overlay", m.overlay(t))
			for try := range tries {
				seed := m.seed
				if try > 0 {
					seed = try
				}
				v, err := play(bin, nil, m.scenario, "--seed", strconv.FormatUint(seed, 10))
				if err != nil {
					t.Fatal(err)
				}
				if v.Verdict != "ok" && strings.Contains(v.Detail, m.expect) {
					t.Logf("caught by %s, seed %d: %s: %s", m.scenario, seed, v.Verdict, v.Detail)
					return
				}
				if v.Verdict != "ok" {
					t.Logf("seed %d broke something else: %s: %s", seed, v.Verdict, v.Detail)
				}
			}
			t.Errorf("survived %d tries of %s from seed %d: %s", tries, m.scenario, m.seed, m.about)
		})
	}
}
