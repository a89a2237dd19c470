package scenarios

//go:generate go run hyperscale/cmd/hyperscale sim list --markdown --out ../docs/scenarios.md

import (
	"fmt"
	"strings"
)

// Markdown returns docs/scenarios.md: a section for each scenario, with its own text.
func Markdown() string {
	var b strings.Builder
	b.WriteString("# Scenarios\n\n" +
		"<!-- Written by `go generate ./scenarios` from what the scenarios say of themselves. -->\n" +
		"<!-- ci: every block: not run: `make determinism` plays each of these worlds, several times -->\n\n" +
		"Each is a simulated world that `hyperscale sim run NAME` plays from a seed. Besides what its section says,\n" +
		"the checker's invariants hold in all of them: see [DESIGN.md](../DESIGN.md), \"What is proved, and how\".\n\n")
	for _, s := range All() {
		fmt.Fprintf(&b, "- [%s](#%s)\n", s.Name, s.Name)
	}
	for _, s := range All() {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", s.Name, s.Doc)
		if s.Happens != "" {
			fmt.Fprintf(&b, "\nWhat happens: %s\n", s.Happens)
		}
		if s.Holds != "" {
			fmt.Fprintf(&b, "\nWhat must hold: %s\n", s.Holds)
		}
		if s.ExpectedLoss != "" {
			fmt.Fprintf(&b, "\nIt breaks %s on purpose: a run in which the checker does not see that is a failure.\n", strings.Join(strings.Fields(s.ExpectedLoss), " or "))
		}
		if s.Beyond {
			b.WriteString("\nClocks drift beyond the bound: what depends on them (T2, T13, holders' reads) is not judged.\n")
		}
		fmt.Fprintf(&b, "\n    hyperscale sim run %s        # %v of virtual time\n", s.Name, s.Virtual)
	}
	return b.String()
}
