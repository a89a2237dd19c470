package stage

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"hyperscale/checker"
	"hyperscale/sim"
)

// Options of one run.
type Options struct {
	Seed    uint64
	Virtual time.Duration // zero: the scenario's
	Wire    bool          // encode and decode every message
	// Crowd, if not zero, is how many members a crowded world has, instead of what the seed draws.
	Crowd int
	// Observer sees everything and changes nothing; nil for none.
	Observer sim.Observer
	// History receives each record that the checker judges; nil for none.
	History func(checker.Record)
	// Faults, if not nil, replace those that the scenario would draw: a replay.
	Faults []sim.Fault
	// Until, if not zero, cuts the run short: nothing else changes, and the run does not judge
	// what only the end shows.
	Until time.Duration
	// First ends the run at the first violation.
	First bool
}

// Outcome is how a run ended.
type Outcome string

// The outcomes; each has its own exit code.
const (
	OK        Outcome = "ok"
	Violation Outcome = "violation"
	Stuck     Outcome = "stuck"
	Panicked  Outcome = "panic"
	Diverged  Outcome = "diverged"
)

// ExitCode returns the exit code of a command that played this run.
func (o Outcome) ExitCode() int {
	switch o {
	case OK:
		return 0
	case Violation:
		return 1
	case Stuck:
		return 3
	case Diverged:
		return 4
	}
	return 5
}

// Report is the result of one run.
type Report struct {
	Scenario   string
	Seed       uint64
	Hash       uint64
	Events     uint64
	Virtual    time.Duration
	Outcome    Outcome
	Detail     string
	Violations []checker.Violation
	// Broken is when the failure showed: a run that is cut short there fails, too. Zero: only
	// the whole run shows it.
	Broken   time.Duration
	Stack    string        // of a panic
	Faults   []sim.Fault   // as played, for a schedule file
	Healed   time.Duration // when the faults without an end of their own ended
	Accepted int           // jobs that a gate accepted
	Ended    int           // of those, how many ended
	Draws    []string      // what the swarm drew, for readers
	Nodes    []string      // all nodes
	// Reached counts visits of rare states.
	Reached map[string]int
}

// Run plays one world from its seed to its end.
func (s Scenario) Run(o Options) (r Report) {
	if o.Virtual <= 0 {
		o.Virtual = s.Virtual
	}
	r = Report{Scenario: s.Name, Seed: o.Seed, Outcome: OK}
	st := New(s, o)
	defer func() {
		if p := recover(); p != nil {
			r.Outcome, r.Detail, r.Broken, r.Stack = Panicked, fmt.Sprint(p), st.World.Now(), string(debug.Stack())
		}
		st.fill(&r)
	}()
	s.Build(st)
	st.play()
	st.judge(&r, s.ExpectedLoss)
	return r
}

// judge turns the checker's violations into an outcome.
func (s *Stage) judge(r *Report, shows string) {
	found := s.Checker.Violations()
	r.Violations, r.Broken = found, s.broken
	switch {
	case shows != "":
		s.judgeLoss(r, shows)
	case len(found) > 0 && found[0].Invariant == "T11":
		r.Outcome, r.Detail = Stuck, found[0].String()
	case len(found) > 0:
		r.Outcome, r.Detail = Violation, found[0].String()
	case s.cut():
		r.Detail = fmt.Sprintf("cut at %v: what only the end shows is not judged", s.Options.Until)
	}
}

// cut reports whether the run ends before its world does.
func (s *Stage) cut() bool { return s.Options.Until > 0 && s.Options.Until < s.Options.Virtual }

// judgeLoss judges worlds that lose what no promise covers: the run is good if the checker
// reports exactly that loss.
func (s *Stage) judgeLoss(r *Report, shows string) {
	if i := slices.IndexFunc(r.Violations, func(v checker.Violation) bool { return !slices.Contains(strings.Fields(shows), v.Invariant) }); i >= 0 {
		r.Outcome, r.Detail = Violation, r.Violations[i].String()
		return
	}
	if len(r.Violations) == 0 && s.cut() {
		r.Detail = fmt.Sprintf("cut at %v, before the loss", s.Options.Until)
		return
	}
	if len(r.Violations) == 0 {
		r.Outcome, r.Detail = Violation, fmt.Sprintf("this world loses what %s speaks of, and the checker did not see it", shows)
		return
	}
	r.Detail = "shown, as it must be: " + r.Violations[0].String()
}

func (s *Stage) fill(r *Report) {
	r.Hash, r.Events, r.Virtual = s.World.Hash(), s.World.Events(), s.World.Now()
	r.Faults, r.Healed, r.Draws = s.Faults, s.Heal, s.draws
	r.Accepted, r.Ended = s.Checker.Jobs()
	r.Reached = s.Checker.Reached()
	for _, id := range s.World.Nodes() {
		r.Nodes = append(r.Nodes, string(id))
	}
}
