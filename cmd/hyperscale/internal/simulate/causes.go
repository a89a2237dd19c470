package simulate

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/runtime/ui/units"
	"hyperscale/scenarios"
	"hyperscale/scenarios/stage"
)

// cause is what several failed runs have in common.
type cause struct {
	key     string
	verdict scenarios.Outcome
	runs    []simResult // by scenario and seed
}

// causeOf groups failures of one world: in two worlds the same text may have two causes.
func causeOf(r *simResult) string { return r.Scenario + " " + stage.Cause(r.Verdict, r.Detail) }

// groupCauses puts failures of a world together that differ in names and numbers only;
// the most frequent cause comes first.
func groupCauses(failed []simResult) []cause {
	found := map[string]int{}
	var causes []cause
	for _, r := range failed {
		key := causeOf(&r)
		i, known := found[key]
		if !known {
			i = len(causes)
			found[key] = i
			causes = append(causes, cause{key: key, verdict: r.Verdict})
		}
		causes[i].runs = append(causes[i].runs, r)
	}
	for _, c := range causes {
		slices.SortFunc(c.runs, func(a, b simResult) int {
			return cmp.Or(cmp.Compare(a.Scenario, b.Scenario), cmp.Compare(a.Seed, b.Seed))
		})
	}
	slices.SortFunc(causes, func(a, b cause) int {
		return cmp.Or(cmp.Compare(len(b.runs), len(a.runs)), cmp.Compare(a.key, b.key))
	})
	return causes
}

// seedsMax is how many seeds of a cause are printed.
const seedsMax = 8

// tell describes a cause: what happened first, in which runs, how to see it, and its small
// form.
func (c *cause) tell(w io.Writer, virtual time.Duration, small string) error {
	var seeds []string
	for i, r := range c.runs {
		if i == seedsMax {
			seeds = append(seeds, fmt.Sprintf("%d more", len(c.runs)-i))
			break
		}
		seeds = append(seeds, fmt.Sprintf("%s %d", r.Scenario, r.Seed))
	}
	example := c.runs[0]
	var b strings.Builder
	fmt.Fprintf(&b, "%s in %s: %s\n", strings.ToUpper(string(c.verdict)), command.Counted(len(c.runs), "run"), strings.Join(seeds, ", "))
	for line := range strings.Lines(example.Detail) {
		b.WriteString(wrap(units.Clean(strings.TrimSpace(line)), 2, 100) + "\n")
	}
	fmt.Fprintf(&b, "  again: %s\n", reproTask(example, virtual))
	if len(example.Files) > 0 {
		fmt.Fprintf(&b, "  kept:  %s\n", strings.Join(example.Files, ", "))
	}
	if small != "" {
		fmt.Fprintf(&b, "  small: %s\n", small)
	}
	_, err := io.WriteString(w, b.String()+"\n")
	return err
}

// tellReached says how often runs reached each rare state, and which never: a state that no run
// reached is untested.
func tellReached(reached map[string]int) string {
	if len(reached) == 0 {
		return ""
	}
	var visited, never []string
	for _, what := range slices.Sorted(maps.Keys(reached)) {
		visited = append(visited, fmt.Sprintf("%s %s", what, units.Count(uint64(reached[what]))))
	}
	for _, what := range scenarios.RareStates() {
		if reached[what] == 0 {
			never = append(never, what)
		}
	}
	text := "Rare states: " + listed(visited) + ".\n"
	if len(never) > 0 {
		text += "Never reached: " + listed(never) + ".\n"
	}
	return text
}

func reproTask(r simResult, virtual time.Duration) string {
	if s, err := scenarios.Find(r.Scenario); err == nil && virtual == 0 {
		virtual = s.Virtual
	}
	return repro(r.Scenario, r.Seed, virtual, r.Wire)
}

// ruleOfThree says what n runs without a failure prove. If more than 3/n of all seeds failed,
// the chance of no failure would be below exp(-3), 5 %.
func ruleOfThree(n int) string {
	if n < 3 {
		return "no failure; too few runs to conclude anything"
	}
	return fmt.Sprintf("no failure in %s: with 95 %% confidence fewer than 1 of %s seeds fails", command.Counted(n, "run"), units.Count(uint64(n/3)))
}
