package main

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

	"hyperscale/runtime/progress"
	"hyperscale/runtime/ui"
	"hyperscale/scenarios"
)

type swarmFlags struct {
	scenario        string
	seeds           seedRange
	jobs            uint64
	budget, virtual time.Duration
	shrink          time.Duration
	out             string
}

func newSimSwarmCommand() *cobra.Command {
	f := swarmFlags{shrink: shrinkBudget}
	cmd := &cobra.Command{
		Use:   "swarm",
		Short: "play many seeds, in several processes",
		Long: `Play many seeds in several processes and group what failed by its cause.

With --out each failure is kept as a schedule (for sim replay) and the end of its
trace, and a swarm that was stopped goes on where it was when it is started again
with the same program. The first failure of each cause is then made small: without
the faults that it does not need. The last line of stdout is JSON.

Before anything else each process plays a canary, a world that breaks an invariant
on purpose: where the checker sees nothing there, the swarm ends at once.`,
		Example: "  hyperscale sim swarm --scenario storm --seeds 1..500 --out out/swarm\n" +
			"  hyperscale sim swarm --budget 10m",
		Args: exactly(),
		RunE: runs(func(cmd *cobra.Command, _ []string) error {
			if f.budget > 0 && !cmd.Flags().Changed("seeds") {
				f.seeds.last = math.MaxUint64 // as many as fit
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
	addCount(flags, &f.jobs, "jobs", uint64(runtime.NumCPU()), 1, 1024, "runs at the same time")
	addSpan(flags, &f.budget, "budget", 0, time.Second, "begin no run after this much real time")
	addVirtual(flags, &f.virtual)
	flags.Var(span{&f.shrink, 0}, "shrink", "with --out, how long the first failure of each cause is made small; 0 for not at all")
	flags.StringVar(&f.out, "out", "", "keep failures, and what is done, in a `folder`")
	return cmd
}

// swarm is one invocation.
type swarm struct {
	flags       *swarmFlags
	scenarios   []scenarios.Scenario
	out, errors io.Writer
	journal     *journal
	started     time.Time

	seed    uint64 // the next to hand out
	which   int    // of its scenarios
	ended   bool   // all were handed out
	resumed int
	total   swarmTotal
	virtual time.Duration // of this invocation's runs
	failed  []simResult
	reached map[string]int    // rare states
	small   map[string]string // causes, with what was made small of each, or is being
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
	s := &swarm{flags: f, out: out, errors: notes, seed: f.seeds.first, scenarios: scenarios.All(), reached: map[string]int{}, small: map[string]string{},
		line: progress.New(notes, progress.Terminal(notes), time.Now())}
	if f.scenario != "all" {
		s.scenarios = nil
		for name := range strings.SplitSeq(f.scenario, ",") {
			one, err := findScenario(name)
			if err != nil {
				return nil, err
			}
			s.scenarios = append(s.scenarios, one)
		}
	}
	if f.out != "" {
		var err error
		if s.journal, err = openJournal(f.out, f.virtual); err != nil {
			return nil, err
		}
		for _, r := range s.journal.tiny {
			s.keepSmall(scenarios.Cause(r.Verdict, r.Detail), &r)
		}
	}
	return s, nil
}

// run plays everything, tells what was found, and returns the exit code of the
// worst.
func (s *swarm) run(ctx context.Context) error {
	command, err := runnerProgram()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	interrupts := catchInterrupts()
	defer interrupts.release()
	interrupted := make(chan struct{})
	go func() {
		select {
		case <-interrupts.asked:
			close(interrupted)
			cancel()
		case <-ctx.Done():
		}
	}()
	s.started = time.Now()
	s.begin()
	fleet := fleet{command: command, jobs: int(s.flags.jobs), canary: s.canary(), limit: runMax, next: s.next, done: s.done}
	err = errors.Join(fleet.run(ctx), s.err)
	s.line.Clear()
	select {
	case <-interrupted:
		err = exitWith(exitInterrupted, errors.Join(err, errors.New("interrupted"+s.goOn())))
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

// next hands out the runs that are not known yet, seed by seed.
func (s *swarm) next() (simTask, bool) {
	if n := len(s.waiting); n > 0 {
		t := s.waiting[0]
		s.waiting = s.waiting[1:]
		return t, true
	}
	for !s.ended && s.err == nil {
		if s.flags.budget > 0 && time.Since(s.started) >= s.flags.budget {
			return simTask{}, false
		}
		t := simTask{Scenario: s.scenarios[s.which].Name, Seed: s.seed, Virtual: s.flags.virtual, Keep: s.flags.out, Trace: len(s.failed) < tracesMax}
		if s.which++; s.which == len(s.scenarios) {
			s.which = 0
			s.ended = s.seed == s.flags.seeds.last
			s.seed++
		}
		r, known := s.journal.find(t.Scenario, t.Seed)
		if !known {
			return t, true
		}
		s.resumed++
		s.count(r)
		if len(s.waiting) > 0 {
			return s.next()
		}
	}
	return simTask{}, false
}

// causesMax bounds how many causes are made small: a program that fails in so many
// ways has other worries.
const causesMax = 20

// makeSmall files the first failure of a cause to be made small.
func (s *swarm) makeSmall(r *simResult) {
	if len(r.Files) == 0 || s.flags.shrink <= 0 {
		return
	}
	cause := scenarios.Cause(r.Verdict, r.Detail)
	if _, known := s.small[cause]; known || r.Verdict == scenarios.Diverged || len(s.small) >= causesMax {
		return
	}
	s.small[cause] = ""
	s.waiting = append(s.waiting, simTask{Scenario: r.Scenario, Seed: r.Seed, Shrink: r.Files[0], Budget: s.flags.shrink})
}

// keepSmall remembers what is left of a failure.
func (s *swarm) keepSmall(cause string, r *simResult) {
	s.small[cause] = fmt.Sprintf("%s of %d left: hyperscale sim replay %s", counted(r.Left, "fault"), r.Faults, smallName(r.Shrunk))
	if r.Detail == "" || len(r.Files) == 0 {
		s.small[cause] = "not made small: " + cmp.Or(r.Detail, "it was not finished")
	}
}

// madeSmall is told that a failure was made small, or that this failed.
func (s *swarm) madeSmall(r simResult) {
	for _, f := range s.failed {
		if len(f.Files) > 0 && f.Files[0] == r.Shrunk {
			s.keepSmall(scenarios.Cause(f.Verdict, f.Detail), &r)
			return
		}
	}
}

// done is told what a run came to.
func (s *swarm) done(r simResult) {
	if err := s.journal.add(r); err != nil && s.err == nil {
		s.err = err
	}
	if r.Shrunk != "" {
		s.madeSmall(r)
		return
	}
	s.virtual += time.Duration(r.VirtualMS) * time.Millisecond
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
	s.makeSmall(&r)
}

func (s *swarm) exitCode() int {
	code := exitGood
	for _, r := range s.failed {
		code = max(code, r.Verdict.ExitCode())
	}
	return code
}

// tell writes what was found; the last line is for machines.
func (s *swarm) tell() error {
	causes := groupCauses(s.failed)
	for i := range causes {
		if err := causes[i].tell(s.out, s.flags.virtual, s.small[causes[i].key]); err != nil {
			return err
		}
	}
	took := time.Since(s.started)
	s.total.RealMS = took.Milliseconds()
	text := fmt.Sprintf("%s of %s in %s", counted(s.total.Seeds, "run"), s.flags.scenario, ui.Duration(took))
	if s.resumed > 0 {
		text += fmt.Sprintf(", %d of them known from before", s.resumed)
	}
	if s.virtual > 0 {
		text += ", " + speed(s.virtual, took)
	}
	switch {
	case len(s.failed) > 0:
		text += fmt.Sprintf("; %s, %s.\nBy: %s", counted(len(s.failed), "failure"), counted(len(causes), "cause"), builtFrom())
	default:
		text += "; " + ruleOfThree(s.total.Seeds)
	}
	text += ".\n" + tellReached(s.reached)
	if _, err := io.WriteString(s.out, text); err != nil {
		return err
	}
	return json.NewEncoder(s.out).Encode(s.total)
}
