package simulate

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/runtime/ui/units"
)

// begin says where the journal makes the swarm differ from the request.
func (s *swarm) begin() {
	if s.journal == nil {
		return
	}
	if n := s.journal.over; n > 0 {
		fmt.Fprintf(s.errors, "%s holds %s of another program or --virtual: all are counted anew\n", s.flags.out, command.Counted(n, "run"))
	}
	if n := len(s.again); n > 0 {
		fmt.Fprintf(s.errors, "%s lists %s of another program: they are played first\n", s.flags.out, command.Counted(n, "failure"))
	}
	if n := len(s.journal.done); n > 0 {
		fmt.Fprintf(s.errors, "%s holds %s of this program: they are not played again\n", s.flags.out, command.Counted(n, "run"))
	}
}

func (s *swarm) progress() {
	now := time.Now()
	s.line.Tell(now, func() string { return s.status(now.Sub(s.started)) })
}

// status is one line with an end in sight.
func (s *swarm) status(took time.Duration) string {
	line := fmt.Sprintf("%s: %s", s.flags.scenario, units.Count(uint64(s.total.Seeds)))
	if s.whole > 0 {
		line += " of " + units.Count(s.whole)
	}
	line += fmt.Sprintf(" runs, %d failed, %s", len(s.failed), speed(s.virtual, took))
	if left, known := s.left(took); known {
		line += ", " + units.Duration(left) + " left"
	}
	return line
}

// left guesses how long it still takes, from what each world's runs took.
func (s *swarm) left(took time.Duration) (time.Duration, bool) {
	left, known := s.plan.left()
	left /= time.Duration(max(s.flags.jobs, 1))
	budget := max(0, s.flags.budget-took)
	switch {
	case s.flags.budget == 0:
	case !known, s.flags.byRange():
		left, known = min(cmp.Or(left, budget), budget), true
	default:
		left = max(left, budget)
	}
	return left.Round(time.Second), known
}

// tellWorlds says how often each of several worlds was played, which cost most, and how
// fresh seeds are played again.
func (s *swarm) tellWorlds() string {
	if s.plan == nil || len(s.plan.worlds) < 2 {
		return ""
	}
	least, most, never := uint64(math.MaxUint64), uint64(0), 0
	for _, w := range s.plan.worlds {
		least, most = min(least, w.took.runs), max(most, w.took.runs)
		if w.took.runs == 0 {
			never++
		}
	}
	text := fmt.Sprintf("%s, each played %d to %d times.", command.Counted(len(s.plan.worlds), "world"), least, most)
	if never > 0 {
		text += fmt.Sprintf(" %d of them were not played at all.", never)
	}
	var slow []string
	for _, w := range s.plan.slowest(slowestTold) {
		slow = append(slow, fmt.Sprintf("%s %s", w.scenario.Name, units.Duration(w.took.mean().Round(time.Millisecond))))
	}
	if len(slow) > 0 {
		text += " Slowest: " + strings.Join(slow, ", ") + "."
	}
	text += "\n"
	if s.flags.fresh != "" {
		text += fmt.Sprintf("Seeds begin at %d, as --fresh %s draws them.\n", s.flags.seeds.first, s.flags.fresh)
	}
	return text
}

// slowestTold is how many slow worlds are named.
const slowestTold = 5

// tellBefore lists the failures of programs before, and how those runs end now.
func (s *swarm) tellBefore() string {
	if s.journal == nil || len(s.journal.before) == 0 {
		return ""
	}
	failed := map[runKey]bool{}
	for _, r := range s.failed {
		failed[runKey{r.Scenario, r.Seed}] = true
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Of another program, %s:\n", command.Counted(len(s.journal.before), "failure"))
	for _, c := range groupCauses(s.journal.before) {
		var seeds []string
		for _, r := range c.runs[:min(len(c.runs), seedsMax)] {
			now := "not played again"
			if key := (runKey{r.Scenario, r.Seed}); failed[key] {
				now = "fails again"
			} else if s.mended[key] {
				now = "ok now"
			}
			seeds = append(seeds, fmt.Sprintf("%s %d (%s)", r.Scenario, r.Seed, now))
		}
		if n := len(c.runs) - seedsMax; n > 0 {
			seeds = append(seeds, fmt.Sprintf("%d more", n))
		}
		detail, _, _ := strings.Cut(c.runs[0].Detail, "\n")
		fmt.Fprintf(&b, "  %s in %s\n%s\n", c.verdict, strings.Join(seeds, ", "), wrap(units.Clean(detail), 4, 100))
	}
	return b.String()
}

// goOn says how an interrupted swarm is continued.
func (s *swarm) goOn() string {
	if s.journal == nil {
		return ""
	}
	return ": the same command goes on from here"
}
