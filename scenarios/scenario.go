package scenarios

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"hyperscale/checker"
	"hyperscale/core/node"
	"hyperscale/netsim"
	"hyperscale/sim"
)

// LivenessBound is T11's: after the last fault healed, every accepted job ends
// within it.
const LivenessBound = 120 * time.Second

// Scenario is a named world: data, and one function that builds it.
type Scenario struct {
	Name string
	// Doc says what happens, then what must hold, each in a sentence or two.
	Doc string
	// Happens and Holds say it at length, for docs/scenarios.md, where Doc is not
	// enough.
	Happens, Holds string
	// Virtual is how long it lasts unless somebody says otherwise.
	Virtual time.Duration
	// Least is the shortest time in which this world can be judged. Zero means Virtual: a
	// directed world's faults have fixed times, and a shorter run misses some of them.
	Least time.Duration
	// ExpectedLoss names the invariants that this world breaks, one at least and no other, for
	// a loss that is known and stated; empty for all others.
	ExpectedLoss string
	// Beyond lets clocks drift beyond the bound that protocols count on: only what
	// must hold then is judged.
	Beyond  bool
	within  time.Duration        // after the healing all jobs end; 0: LivenessBound
	rate    int                  // messages of one kind that a node gets in a second at most; 0: rateMax
	network func() netsim.Config // nil: netsim.Default
	build   func(*stage)
}

// All returns every scenario, by name.
func All() []Scenario {
	all := slices.Concat(reference(), directed(), worlds(), memoryWorlds(), shardWorlds(), recoverWorlds(), abortWorlds(), rowWorlds(), gossips(), memberships(), swimWorlds(), memberWorlds(), peerWorlds(), registers(), elections(), fileWorlds(), boundWorlds(), operatedWorlds(), canaries())
	slices.SortFunc(all, func(a, b Scenario) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// Find returns the scenario of a name.
func Find(name string) (Scenario, error) {
	var names []string
	for _, s := range All() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Scenario{}, fmt.Errorf("scenario %q does not exist: choose one of %v", name, names)
}

// least is the shortest time that judges this world.
func (s Scenario) least() time.Duration { return cmp.Or(s.Least, s.Virtual) }

// Check rejects a run that is too short to judge its world.
func (s Scenario) Check(virtual time.Duration) error {
	if least := s.least(); virtual > 0 && virtual < least {
		return fmt.Errorf("%v is shorter than the %v that scenario %s needs to be judged: choose %v or more", virtual, least, s.Name, least)
	}
	return nil
}

// Options of one run.
type Options struct {
	Seed    uint64
	Virtual time.Duration // zero: the scenario's
	Wire    bool          // encode and decode every message
	// Observer sees everything and changes nothing; nil for none.
	Observer sim.Observer
	// History is told each record that is judged; nil for nobody.
	History func(checker.Record)
	// Faults, when not nil, replace those that the scenario would draw: a replay.
	Faults []sim.Fault
	// Until, when not zero, cuts the run short: nothing else changes, and what is
	// judged at the end only is not judged.
	Until time.Duration
	// First ends the run as soon as anything is broken.
	First bool
}

// Outcome is what a run came to.
type Outcome string

// The outcomes; each has an exit code of its own.
const (
	OK        Outcome = "ok"
	Violation Outcome = "violation"
	Stuck     Outcome = "stuck"
	Panicked  Outcome = "panic"
	Diverged  Outcome = "diverged"
)

// ExitCode returns what a command that ran this should exit with.
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
	// Broken is when the failure was seen: a run that is cut short there fails as
	// well. Zero: only the whole run shows it.
	Broken   time.Duration
	Faults   []sim.Fault   // as played, for a schedule file
	Healed   time.Duration // when those that have no end of their own ended
	Accepted int           // jobs that a gate accepted
	Ended    int           // of those, how many ended
	Draws    []string      // what the swarm drew, for people
	Nodes    []string      // all that there are
	// Reached counts how often rare states were visited.
	Reached map[string]int
}

// Run plays one world from its seed to its end.
func (s Scenario) Run(o Options) (r Report) {
	if o.Virtual <= 0 {
		o.Virtual = s.Virtual
	}
	r = Report{Scenario: s.Name, Seed: o.Seed, Outcome: OK}
	st := newStage(s, o)
	defer func() {
		if p := recover(); p != nil {
			r.Outcome, r.Detail, r.Broken = Panicked, fmt.Sprint(p), st.world.Now()
		}
		st.fill(&r)
	}()
	s.build(st)
	st.play()
	st.judge(&r, s.ExpectedLoss)
	return r
}

// judge turns what the checker found into an outcome.
func (s *stage) judge(r *Report, shows string) {
	found := s.checker.Violations()
	r.Violations, r.Broken = found, s.broken
	switch {
	case shows != "":
		s.judgeLoss(r, shows)
	case len(found) > 0 && found[0].Invariant == "T11":
		r.Outcome, r.Detail = Stuck, found[0].String()
	case len(found) > 0:
		r.Outcome, r.Detail = Violation, found[0].String()
	case s.cut():
		r.Detail = fmt.Sprintf("cut at %v: what only the end shows is not judged", s.options.Until)
	}
}

// cut says whether the run ends before its world does.
func (s *stage) cut() bool { return s.options.Until > 0 && s.options.Until < s.options.Virtual }

// judgeLoss is for worlds in which something is lost that nobody claims to keep:
// the run is good when the checker sees exactly that.
func (s *stage) judgeLoss(r *Report, shows string) {
	if i := slices.IndexFunc(r.Violations, func(v checker.Violation) bool { return !slices.Contains(strings.Fields(shows), v.Invariant) }); i >= 0 {
		r.Outcome, r.Detail = Violation, r.Violations[i].String()
		return
	}
	if len(r.Violations) == 0 && s.cut() {
		r.Detail = fmt.Sprintf("cut at %v, before the loss", s.options.Until)
		return
	}
	if len(r.Violations) == 0 {
		r.Outcome, r.Detail = Violation, fmt.Sprintf("this world loses what %s speaks of, and the checker did not see it", shows)
		return
	}
	r.Detail = "shown, as it must be: " + r.Violations[0].String()
}

func (s *stage) fill(r *Report) {
	r.Hash, r.Events, r.Virtual = s.world.Hash(), s.world.Events(), s.world.Now()
	r.Faults, r.Healed, r.Draws = s.faults, s.heal, s.draws
	r.Accepted, r.Ended = s.checker.Jobs()
	r.Reached = s.checker.Reached()
	for _, id := range s.world.Nodes() {
		r.Nodes = append(r.Nodes, string(id))
	}
}

// tee hands events to the checker, and everything to somebody else who may be
// nil.
type tee struct {
	stage *stage
	other sim.Observer
}

// Interest implements sim.Interested: unless somebody watches, only events cost.
func (t tee) Interest() sim.Interest {
	if o, ok := t.other.(sim.Interested); ok {
		return o.Interest() | sim.WantEvents | sim.WantFaults
	}
	if t.other != nil {
		return sim.WantAll
	}
	return sim.WantEvents | sim.WantFaults
}

// Input implements sim.Observer.
func (t tee) Input(at time.Duration, id node.ID, in *node.Input) {
	if t.other != nil {
		t.other.Input(at, id, in)
	}
}

// Effect implements sim.Observer.
func (t tee) Effect(at time.Duration, id node.ID, e *sim.Effect) {
	if t.other != nil {
		t.other.Effect(at, id, e)
	}
}

// Fault implements sim.Observer.
func (t tee) Fault(at time.Duration, f sim.Fault) {
	if f.Kind == sim.FaultCrash && f.Value == 1 {
		for _, id := range t.stage.world.Nodes() {
			if len(f.Nodes) == 0 || slices.Contains(f.Nodes, string(id)) {
				t.stage.checker.Forget(id)
			}
		}
	}
	if t.other != nil {
		t.other.Fault(at, f)
	}
}

// Event implements sim.Observer: it feeds the checker.
func (t tee) Event(at time.Duration, id node.ID, incarnation uint64, e node.Event) {
	s := t.stage
	record := checker.Record{At: at, Node: id, Incarnation: incarnation, Local: s.local(id), Event: e}
	s.checker.Observe(record)
	for _, look := range s.witness {
		look(record)
	}
	if s.options.History != nil {
		s.options.History(record)
	}
	if s.broken == 0 && s.checker.Broken() > 0 {
		s.broken = at
	}
	if t.other != nil {
		t.other.Event(at, id, incarnation, e)
	}
}
