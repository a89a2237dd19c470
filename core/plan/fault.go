package plan

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// FaultsMax bounds how many faults one Check reports.
const FaultsMax = 100

// Fault is one value of a plan that is out of its bounds.
type Fault struct {
	Workflow string // empty: the fault is one of the plan or of the program
	Step     string // empty: the fault is one of the workflow
	Key      string
	Value    string
	Bound    string // what the value must do: "be at most 100"
	Remedy   string
}

// String names the place, the key, the value, the bound and the remedy.
func (f Fault) String() string { return f.What() + ": " + f.Remedy }

// What returns the fault without its remedy.
func (f Fault) What() string {
	var b strings.Builder
	if f.Workflow != "" {
		fmt.Fprintf(&b, "workflow %s: ", quoted(f.Workflow))
	}
	if f.Step != "" {
		fmt.Fprintf(&b, "step %s: ", quoted(f.Step))
	}
	fmt.Fprintf(&b, "%s = %s must %s", f.Key, f.Value, f.Bound)
	return b.String()
}

// textFaults bounds the faults in a text.
const textFaults = 10

// Text returns the first faults in one line, and how many more there are.
func Text(faults []Fault) string {
	var all []string
	for _, f := range faults[:min(len(faults), textFaults)] {
		all = append(all, f.String())
	}
	if more := len(faults) - textFaults; more > 0 {
		all = append(all, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(all, "; ")
}

// textMax bounds a value's text.
const textMax = 64

// quoted formats a text of the plan for users: short, and valid UTF-8 for any input.
func quoted(s string) string {
	if len(s) <= textMax {
		return fmt.Sprintf("%q", s)
	}
	cut := textMax
	for cut > textMax-utf8.UTFMax && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return fmt.Sprintf("%q...", s[:cut])
}

// length formats 24h0m0s as 24h.
func length(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// size formats bytes in the largest unit that divides them.
func size(n int) string {
	switch {
	case n > 0 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n > 0 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}
