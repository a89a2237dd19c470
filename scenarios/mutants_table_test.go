package scenarios_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hyperscale/scenarios"
)

// row is a line of the table.
type row struct {
	mutant   string
	reached  uint64
	caught   string // the invariant; empty: it survived
	scenario string
	seed     uint64
	tries    int
	faults   int
	left     int
	took     time.Duration
	trouble  string // why it was not judged, or a remark
}

// by returns the invariant that caught a bug.
func by(p *played) string {
	word, _, _ := strings.Cut(p.Detail, " ")
	switch {
	case p.Outcome == scenarios.Panicked:
		return "a panic"
	case strings.HasPrefix(word, "not"):
		return "no end"
	}
	return word
}

func (r *row) String() string {
	text := func(ok bool, s string) string {
		if !ok {
			return "-"
		}
		return s
	}
	caught := r.caught != ""
	return fmt.Sprintf("%-52s %9d  %-9s %-22s %5s %5d %7s  %s", r.mutant, r.reached, text(caught, r.caught), text(caught, r.scenario),
		text(caught, strconv.FormatUint(r.seed, 10)), r.tries, text(r.left >= 0, fmt.Sprintf("%d/%d", r.left, r.faults)), firstLine(r.trouble))
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// judge fails the test of a mutant that was not caught as required.
func (m *mutant) judge(t *testing.T, r *row, record bool) {
	switch {
	case r.caught == "" && r.trouble != "":
		t.Error(r.trouble)
	case r.caught == "" && r.reached == 0:
		t.Errorf("survived, and in %d tries of %v its code was never reached: it needs a world that goes there: %s", r.tries, m.scenarios, m.about)
	case r.caught == "":
		t.Errorf("survived %d tries of %v, reached %d times: it needs a better check: %s", r.tries, m.scenarios, r.reached, m.about)
	case record && m.test == "" && (r.seed != m.seed || r.scenario != m.scenarios[0]):
		if err := m.record(r); err != nil {
			t.Error(err)
		}
	}
}

// record writes the scenario and the seed that caught a bug into its file.
func (m *mutant) record(r *row) error {
	text, err := os.ReadFile(m.file)
	if err != nil {
		return err
	}
	names := append([]string{r.scenario}, slices.DeleteFunc(slices.Clone(m.scenarios), func(s string) bool { return s == r.scenario })...)
	var b strings.Builder
	seen := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		key, _, _ := strings.Cut(line, ": ")
		switch first := !seen[key]; {
		case key == "scenario" && first:
			line = "scenario: " + strings.Join(names, ", ") + "\n"
		case key == "seed" && first:
			line = fmt.Sprintf("seed: %d\n", r.seed)
		}
		seen[key] = true
		b.WriteString(line)
	}
	return os.WriteFile(m.file, []byte(b.String()), 0o644)
}

// table returns the text that the test prints at the end.
func table(all []mutant, rows []row, took time.Duration) string {
	slices.SortFunc(rows, func(a, b row) int { return strings.Compare(a.mutant, b.mutant) })
	var b strings.Builder
	fmt.Fprintf(&b, "\n%-52s %9s  %-9s %-22s %5s %5s %7s\n", "mutant", "reached", "caught by", "scenario", "seed", "tries", "faults")
	var tries []int
	for i := range rows {
		fmt.Fprintln(&b, &rows[i])
		if rows[i].caught != "" {
			tries = append(tries, rows[i].tries)
		}
	}
	for _, m := range all {
		if m.equivalent != "" {
			fmt.Fprintf(&b, "%-52s equivalent: %s\n", m.name, m.equivalent)
		}
	}
	slices.Sort(tries)
	median := 0
	if len(tries) > 0 {
		median = tries[len(tries)/2]
	}
	fmt.Fprintf(&b, "\n%d of %d caught, median %d tries, in %v\n", len(tries), len(rows), median, took.Round(time.Second))
	return b.String()
}
