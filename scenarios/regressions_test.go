package scenarios_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hyperscale/scenarios"
	"hyperscale/sim/schedule"
)

// Repaired failures stay repaired. The faults of a file are those of the failed run. The
// machines have changed since, so its hash is different.
func TestRegressionsStayRepaired(t *testing.T) {
	files, err := filepath.Glob("../testdata/regressions/*.sched")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".sched"), func(t *testing.T) {
			file, err := os.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			f, err := schedule.Read(file)
			if err != nil {
				t.Fatal(err)
			}
			s, err := scenarios.Find(f.Scenario)
			if err != nil {
				t.Fatal(err)
			}
			if f.Detail == "" || f.Verdict == string(scenarios.OK) {
				t.Error("detail and verdict do not say what it once broke")
			}
			// Until is when it broke: a later failure counts as well.
			r := s.Run(scenarios.Options{Seed: f.Seed, Virtual: f.Virtual, Wire: f.Wire, Faults: f.Faults})
			if r.Outcome != scenarios.OK {
				t.Errorf("it once broke: %s\nnow %s: %s", f.Detail, r.Outcome, r.Detail)
			}
		})
	}
}
