package simulate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/runtime/progress"
	"hyperscale/runtime/ui/units"
	"hyperscale/scenarios"
)

type swarmFlags struct {
	scenario        string
	seeds           seedRange
	each            uint64 // runs of every world; zero: seeds says it
	fresh           string
	jobs            uint64
	budget, virtual time.Duration
	wire            bool
	shrink          time.Duration
	out             string
}

// byRange plays the seeds of a range, no other ones.
func (f *swarmFlags) byRange() bool { return f.each == 0 && f.seeds.last != math.MaxUint64 }

func newSimSwarmCommand() *cobra.Command {
	f := swarmFlags{shrink: shrinkBudget}
	cmd := &cobra.Command{
		Use:   "swarm",
		Short: "play many seeds, in several processes",
		Long: `Play many seeds in several processes and group failures by their cause.

It plays the worlds in rounds, the slowest of a round first. --each N plays every
world N times at least, whatever --budget says. The rest of the budget goes first to
worlds that were played rarely, failed often, and cost little. --fresh TEXT takes
seeds that the text draws, a commit's hash, say.

--out keeps each failure as a schedule (for sim replay) with the end of its trace. A
stopped swarm continues where it was when the same program starts it again. Another
program counts anew: it lists the failures of the one before, and plays them first.
The swarm makes the first failure of each cause of a world small, by removing the
faults that it does not need. The last line of stdout is JSON.

Each process first plays a canary, a world that breaks an invariant on purpose. If
the checker misses that, the swarm ends at once.`,
		Example: "  hyperscale sim swarm --scenario storm --seeds 1..500 --out out/swarm\n" +
			"  hyperscale sim swarm --scenario all --each 1000 --out out/worlds\n" +
			"  hyperscale sim swarm --scenario all --each 20 --fresh 3f2a9c1 --budget 6m",
		Args: command.Exactly(),
		RunE: command.Runs(func(cmd *cobra.Command, _ []string) error {
			if err := f.settle(cmd.Flags().Changed("seeds")); err != nil {
				return err
			}
			s, err := newSwarm(&f, cmd.OutOrStdout(), cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			defer s.journal.close()
			return s.run(cmd.Context())
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.scenario, "scenario", "storm", "`name` of a scenario, several with commas, or all")
	addSeeds(flags, &f.seeds, "seeds", seedRange{1, 100}, "what is played; with --budget alone as many as fit")
	command.AddCount(flags, &f.each, "each", 0, 1, 1_000_000_000, "play every world so many times at least")
	flags.StringVar(&f.fresh, "fresh", "", "draw the seeds from a `text`")
	command.AddCount(flags, &f.jobs, "jobs", uint64(runtime.NumCPU()), 1, 1024, "runs at the same time")
	command.AddSpan(flags, &f.budget, "budget", 0, time.Second, "begin no run after this much real time")
	addVirtual(flags, &f.virtual)
	flags.BoolVar(&f.wire, "wire", false, wireUsage)
	flags.Var(command.NewSpan(&f.shrink, 0), "shrink", "with --out, how long the first failure of each cause is made small; 0 for not at all")
	flags.StringVar(&f.out, "out", "", "keep failures, and what is done, in a `folder`")
	return cmd
}

// settle derives where the seeds begin and end.
func (f *swarmFlags) settle(ranged bool) error {
	switch {
	case ranged && (f.each > 0 || f.fresh != ""):
		return command.Usage("--seeds %v names all seeds: leave it out, or --each and --fresh", &f.seeds)
	case f.fresh != "" && f.each == 0 && f.budget == 0:
		return command.Usage("--fresh says where the seeds begin: say with --each or --budget where they end")
	case f.each > 0 || f.budget > 0 && !ranged:
		f.seeds = seedRange{1, math.MaxUint64} // as many as fit
	}
	if f.fresh != "" {
		f.seeds.first = freshSeed(f.fresh)
	}
	return nil
}

// swarm is one invocation.
type swarm struct {
	flags       *swarmFlags
	plan        *plan
	out, errors io.Writer
	journal     *journal
	started     time.Time

	whole   uint64          // runs to play, and those known; zero: only the budget ends it
	again   []runKey        // failures of the program before, to be played first
	red     map[runKey]bool // all of those, and
	mended  map[runKey]bool // which of them end well now
	resumed int
	total   swarmTotal
	virtual time.Duration // of this invocation's runs
	failed  []simResult
	reached map[string]int    // rare states
	small   map[string]string // small form of each cause, made or in the making
	waiting []simTask         // to be made small
	err     error             // of the journal
	line    *progress.Line
}

// swarmTotal is the last line of stdout. Fields may be added, never renamed.
type swarmTotal struct {
	Seeds      int    `json:"seeds"`
	OK         int    `json:"ok"`
	Violations int    `json:"violations"`
	Stuck      int    `json:"stuck"`
	Panics     int    `json:"panics"`
	Diverged   int    `json:"diverged,omitempty"`
	Events     uint64 `json:"events"`
	RealMS     int64  `json:"real_ms"`
}

func newSwarm(f *swarmFlags, out, notes io.Writer) (*swarm, error) {
	s := &swarm{flags: f, out: out, errors: notes, plan: &plan{endless: !f.byRange() && f.budget > 0}, reached: map[string]int{}, small: map[string]string{}, red: map[runKey]bool{}, mended: map[runKey]bool{},
		line: progress.New(notes, progress.Terminal(notes), time.Now())}
	all := scenarios.All()
	if f.scenario != "all" {
		all = nil
		for name := range strings.SplitSeq(f.scenario, ",") {
			one, err := findScenario(name)
			if err != nil {
				return nil, err
			}
			all = append(all, one)
		}
	}
	for _, one := range all {
		if err := longEnough(one, f.virtual); err != nil {
			return nil, err
		}
		w := &world{scenario: one, owed: f.each, next: f.seeds.first}
		if f.byRange() {
			w.owed = f.seeds.last - f.seeds.first + 1
		}
		s.plan.worlds = append(s.plan.worlds, w)
	}
	if f.out != "" {
		var err error
		if s.journal, err = openJournal(f.out, f.virtual, f.wire); err != nil {
			return nil, err
		}
		s.resume()
	}
	s.whole = s.plan.owed() + uint64(s.resumed) + uint64(len(s.again))
	if s.plan.endless {
		s.whole = 0
	}
	return s, nil
}

// resume takes over the journal's entries.
func (s *swarm) resume() {
	for _, r := range s.journal.tiny {
		s.keepSmall(causeOf(&r), &r)
	}
	for _, w := range s.plan.worlds {
		w.took.guess = s.journal.costs[w.scenario.Name]
	}
	for _, r := range s.journal.sorted() {
		w := s.world(r.Scenario)
		if w == nil || s.flags.byRange() && (r.Seed < s.flags.seeds.first || r.Seed > s.flags.seeds.last) {
			continue
		}
		s.resumed++
		w.played++
		w.owed -= min(w.owed, 1)
		w.took.add(time.Duration(r.RealMS) * time.Millisecond)
		s.count(r)
	}
	for _, r := range s.journal.before {
		key := runKey{r.Scenario, r.Seed}
		s.red[key] = true
		if known, ok := s.journal.find(key.scenario, key.seed); ok && known.Verdict == scenarios.OK {
			s.mended[key] = true
		}
		w := s.world(r.Scenario)
		if w == nil {
			continue
		}
		w.failed++
		if _, known := s.journal.find(key.scenario, key.seed); !known && !s.flags.byRange() && r.Asked == s.flags.virtual && r.Wire == s.flags.wire {
			s.again = append(s.again, key)
		}
	}
}

// world returns the plan's record of a world; nil: the swarm does not play it.
func (s *swarm) world(name string) *world {
	if s.plan == nil {
		return nil
	}
	for _, w := range s.plan.worlds {
		if w.scenario.Name == name {
			return w
		}
	}
	return nil
}

// run plays everything, reports the findings, and returns the exit code of the worst run.
func (s *swarm) run(ctx context.Context) error {
	program, err := runnerProgram()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	interrupts := command.CatchInterrupts()
	defer interrupts.Release()
	interrupted := make(chan struct{})
	go func() {
		select {
		case <-interrupts.Asked:
			close(interrupted)
			cancel()
		case <-ctx.Done():
		}
	}()
	s.started = time.Now()
	s.begin()
	fleet := fleet{command: program, jobs: int(s.flags.jobs), canary: s.canary(), limit: runMax, next: s.next, done: s.done}
	err = errors.Join(fleet.run(ctx), s.err)
	s.line.Clear()
	select {
	case <-interrupted:
		err = command.Exit(command.ExitInterrupted, errors.Join(err, errors.New("interrupted"+s.goOn())))
	default:
	}
	if tellErr := s.tell(); err == nil {
		err = tellErr
	}
	if err != nil {
		return err
	}
	return simExit(s.exitCode())
}

// canary is a run that must break something: a checker that sees nothing there
// sees nothing anywhere.
func (s *swarm) canary() *simTask { return &simTask{Scenario: "canary", Seed: 1, Canary: true} }

// tracesMax bounds how many failures keep the end of their trace: a program that
// fails everywhere must not fill the disk. sim replay --trace writes any other.
const tracesMax = 20

// next returns the next unknown run: first failures to shrink, then runs that failed before,
// then the plan's choice.
func (s *swarm) next() (simTask, bool) {
	if n := len(s.waiting); n > 0 {
		t := s.waiting[0]
		s.waiting = s.waiting[1:]
		return t, true
	}
	if s.err != nil || s.flags.byRange() && s.flags.budget > 0 && s.remaining() <= 0 {
		return simTask{}, false
	}
	if len(s.again) > 0 {
		key := s.again[0]
		s.again = s.again[1:]
		s.journal.mark(key)
		return s.task(key), true
	}
	w := s.plan.choose(s.remaining())
	if w == nil {
		return simTask{}, false
	}
	key := runKey{w.scenario.Name, w.next}
	for s.journal.knows(key) {
		key.seed++
	}
	w.next = key.seed + 1
	return s.task(key), true
}

func (s *swarm) task(key runKey) simTask {
	return simTask{Scenario: key.scenario, Seed: key.seed, Virtual: s.flags.virtual, Wire: s.flags.wire, Keep: s.flags.out, Trace: len(s.failed) < tracesMax}
}

// remaining is the rest of the budget; negative: there is no budget.
func (s *swarm) remaining() time.Duration {
	if s.flags.budget == 0 {
		return -1
	}
	return max(0, s.flags.budget-time.Since(s.started))
}

// causesMax bounds how many causes are made small: a program that fails in so many
// ways has other worries.
const causesMax = 20

// makeSmall files the first failure of a cause to be made small.
func (s *swarm) makeSmall(r *simResult) {
	if len(r.Files) == 0 || s.flags.shrink <= 0 {
		return
	}
	cause := causeOf(r)
	if _, known := s.small[cause]; known || r.Verdict == scenarios.Diverged || len(s.small) >= causesMax {
		return
	}
	s.small[cause] = ""
	s.waiting = append(s.waiting, simTask{Scenario: r.Scenario, Seed: r.Seed, Shrink: r.Files[0], Budget: s.flags.shrink})
}

// keepSmall records the small form of a failure.
func (s *swarm) keepSmall(cause string, r *simResult) {
	s.small[cause] = fmt.Sprintf("%s of %d left: %s sim replay %s", command.Counted(r.Left, "fault"), r.Faults, command.Called(), smallName(r.Shrunk))
	if r.Detail == "" || len(r.Files) == 0 {
		s.small[cause] = "not made small: " + cmp.Or(r.Detail, "it was not finished")
	}
}

// madeSmall records that a runner made a failure small, or could not.
func (s *swarm) madeSmall(r simResult) {
	for _, f := range s.failed {
		if len(f.Files) > 0 && f.Files[0] == r.Shrunk {
			s.keepSmall(causeOf(&f), &r)
			return
		}
	}
}

// done records the result of a run.
func (s *swarm) done(r simResult) {
	r.Asked, r.Wire = s.flags.virtual, s.flags.wire
	if err := s.journal.add(r); err != nil && s.err == nil {
		s.err = err
	}
	if r.Shrunk != "" {
		s.madeSmall(r)
		return
	}
	s.virtual += time.Duration(r.VirtualMS) * time.Millisecond
	if w := s.world(r.Scenario); w != nil {
		w.took.add(time.Duration(r.RealMS) * time.Millisecond)
	}
	s.count(r)
	s.progress()
}

func (s *swarm) count(r simResult) {
	s.total.Seeds++
	s.total.Events += r.Events
	//lint:orderfree sums
	for what, n := range r.Reached {
		s.reached[what] += n
	}
	switch r.Verdict {
	case scenarios.OK:
		s.total.OK++
		if key := (runKey{r.Scenario, r.Seed}); s.red[key] {
			s.mended[key] = true
		}
		return
	case scenarios.Violation:
		s.total.Violations++
	case scenarios.Stuck:
		s.total.Stuck++
	case scenarios.Diverged:
		s.total.Diverged++
	default:
		s.total.Panics++
	}
	s.failed = append(s.failed, r)
	if w := s.world(r.Scenario); w != nil {
		w.failed++
	}
	s.makeSmall(&r)
}

func (s *swarm) exitCode() int {
	code := command.ExitGood
	for _, r := range s.failed {
		code = max(code, r.Verdict.ExitCode())
	}
	return code
}

// tell prints the findings; the last line is for programs.
func (s *swarm) tell() error {
	causes := groupCauses(s.failed)
	for i := range causes {
		if err := causes[i].tell(s.out, s.flags.virtual, s.small[causes[i].key]); err != nil {
			return err
		}
	}
	took := time.Since(s.started)
	s.total.RealMS = took.Milliseconds()
	text := fmt.Sprintf("%s of %s in %s", command.Counted(s.total.Seeds, "run"), s.flags.scenario, units.Duration(took))
	if s.resumed > 0 {
		text += fmt.Sprintf(", %d of them known from before", s.resumed)
	}
	if s.virtual > 0 {
		text += ", " + speed(s.virtual, took)
	}
	switch {
	case len(s.failed) > 0:
		text += fmt.Sprintf("; %s, %s.\nBy: %s", command.Counted(len(s.failed), "failure"), command.Counted(len(causes), "cause"), builtFrom())
	default:
		text += "; " + ruleOfThree(s.total.Seeds)
	}
	text += ".\n" + s.tellWorlds() + s.tellBefore() + tellReached(s.reached)
	if _, err := io.WriteString(s.out, text); err != nil {
		return err
	}
	return json.NewEncoder(s.out).Encode(s.total)
}
