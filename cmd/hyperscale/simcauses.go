package main

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"hyperscale/core/message"
	"hyperscale/runtime/ui"
	"hyperscale/scenarios"
)

// cause is what several failed runs have in common.
type cause struct {
	key     string
	verdict scenarios.Outcome
	runs    []simResult // by scenario and seed
}

// names are the parts of a detail that differ from run to run: the names of jobs
// (as long as one of them), of nodes, times and every number.
func names() *regexp.Regexp {
	job := len(message.JobID{}.String())
	return regexp.MustCompile(fmt.Sprintf(`\b[0-9a-z]{%d}\b|\b(client|gate|manager|worker|node)-[a-z0-9-]+|\b[0-9][0-9a-zµ.]*`, job))
}

// groupCauses puts failures together that differ in names and numbers only; the
// most frequent cause comes first.
func groupCauses(failed []simResult) []cause {
	vary := names()
	found := map[string]int{}
	var causes []cause
	for _, r := range failed {
		first, _, _ := strings.Cut(r.Detail, "\n")
		key := string(r.Verdict) + " " + vary.ReplaceAllString(first, "#")
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

// seedsMax is how many seeds of a cause are told.
const seedsMax = 8

// tell writes a cause: what happened first, in which runs, and how to see it.
func (c *cause) tell(w io.Writer, virtual time.Duration) error {
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
	fmt.Fprintf(&b, "%s in %s: %s\n", strings.ToUpper(string(c.verdict)), counted(len(c.runs), "run"), strings.Join(seeds, ", "))
	for line := range strings.Lines(example.Detail) {
		b.WriteString(wrap(ui.Clean(strings.TrimSpace(line)), 2, 100) + "\n")
	}
	fmt.Fprintf(&b, "  again: %s\n", reproTask(example, virtual))
	if len(example.Files) > 0 {
		fmt.Fprintf(&b, "  kept:  %s\n", strings.Join(example.Files, ", "))
	}
	_, err := io.WriteString(w, b.String()+"\n")
	return err
}

func reproTask(r simResult, virtual time.Duration) string {
	if s, err := scenarios.Find(r.Scenario); err == nil && virtual == 0 {
		virtual = s.Virtual
	}
	return repro(r.Scenario, r.Seed, virtual, false)
}

// ruleOfThree says what no failure in n runs means: had more than 3 of n of all
// seeds failed, the chance to meet none would be below exp(-3), 5 %.
func ruleOfThree(n int) string {
	if n < 3 {
		return "no failure; too few runs to conclude anything"
	}
	return fmt.Sprintf("no failure in %s: with 95 %% confidence fewer than 1 of %s seeds fails", counted(n, "run"), ui.Count(uint64(n/3)))
}
