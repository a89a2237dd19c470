package main

import (
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hyperscale/scenarios"
)

// virtualMax bounds --virtual: a year, well below what a world can hold.
const virtualMax = 365 * 24 * time.Hour

func newSimCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sim",
		Short: "the simulator: whole clusters under faults, on virtual clocks",
		Long: `Play whole clusters in one process, on virtual clocks, under faults that a seed
draws. The same seed is the same run, every time.

Exit codes: 0 ok, 1 an invariant was broken, 2 bad usage, 3 stuck (no progress
after everything was healed), 4 two runs of one seed differ, 5 a panic.`,
		Example: "  hyperscale sim list\n" +
			"  hyperscale sim run storm --seed 7 --story first --picture storm.html\n" +
			"  hyperscale sim swarm --scenario storm --seeds 1..500 --out out/swarm\n" +
			"  hyperscale sim replay out/swarm/storm-17.sched",
		Args: refuseCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newSimListCommand(), newSimRunCommand(), newSimReplayCommand(), newSimSwarmCommand(), newSimShrinkCommand(), newSimExplainCommand(), newSimLifeguardCommand(), newSimTimesCommand(), newSimRunnerCommand())
	return cmd
}

// findScenario names the nearest one where there is no such scenario.
func findScenario(name string) (scenarios.Scenario, error) {
	s, err := scenarios.Find(name)
	if err == nil {
		return s, nil
	}
	var names []string
	for _, s := range scenarios.All() {
		names = append(names, s.Name)
	}
	return s, usage("scenario %q does not exist%s: `hyperscale sim list` lists them", name, didYouMean(name, names))
}

// seedRange is a flag: one seed, or A..B with both ends.
type seedRange struct{ first, last uint64 }

func (r *seedRange) String() string {
	if r.first == r.last {
		return strconv.FormatUint(r.first, 10)
	}
	return fmt.Sprintf("%d..%d", r.first, r.last)
}

// Type implements pflag.Value.
func (*seedRange) Type() string { return "N|A..B" }

// Set implements pflag.Value.
func (r *seedRange) Set(s string) error {
	from, to, isRange := strings.Cut(s, "..")
	if !isRange {
		to = from
	}
	first, err1 := strconv.ParseUint(from, 10, 64)
	last, err2 := strconv.ParseUint(to, 10, 64)
	switch {
	case err1 != nil || err2 != nil:
		return fmt.Errorf("write a whole number from 0 to %d, or two of them, like 1..100", uint64(math.MaxUint64))
	case last < first:
		return fmt.Errorf("the first seed is above the last: write %d..%d", last, first)
	}
	r.first, r.last = first, last
	return nil
}

// many says whether there is more than one.
func (r *seedRange) many() bool { return r.first != r.last }

func addSeeds(flags *pflag.FlagSet, r *seedRange, name string, value seedRange, help string) {
	*r = value
	flags.Var(r, name, help)
}

// virtualSpan is span with a bound.
type virtualSpan struct{ span }

// Set implements pflag.Value.
func (v virtualSpan) Set(s string) error {
	if err := v.span.Set(s); err != nil {
		return err
	}
	if *v.value > virtualMax {
		return fmt.Errorf("it must be at most %v", virtualMax)
	}
	return nil
}

func addVirtual(flags *pflag.FlagSet, p *time.Duration) {
	flags.Var(virtualSpan{span{p, time.Millisecond}}, "virtual", "how long the world lasts, instead of what the scenario says")
}

// simLine is what --json prints of one run. Fields may be added, never renamed.
type simLine struct {
	Scenario  string            `json:"scenario"`
	Seed      uint64            `json:"seed"`
	Hash      string            `json:"hash"`
	Events    uint64            `json:"events"`
	VirtualMS int64             `json:"virtual_ms"`
	RealMS    int64             `json:"real_ms"`
	Verdict   scenarios.Outcome `json:"verdict"`
	Detail    string            `json:"detail"`
}

func lineOf(r *scenarios.Report, took time.Duration) simLine {
	return simLine{
		Scenario: r.Scenario, Seed: r.Seed, Hash: fmt.Sprintf("%016x", r.Hash), Events: r.Events,
		VirtualMS: r.Virtual.Milliseconds(), RealMS: took.Milliseconds(), Verdict: r.Outcome, Detail: r.Detail,
	}
}

const wireUsage = "encode and decode every message, as between real nodes"

// repro is the command that plays a run again, and what it must be played by.
func repro(scenario string, seed uint64, virtual time.Duration, wire bool) string {
	command := fmt.Sprintf("hyperscale sim run %s --seed %d", scenario, seed)
	if s, err := scenarios.Find(scenario); err == nil && virtual != s.Virtual {
		command += " --virtual " + virtual.String()
	}
	if wire {
		command += " --wire"
	}
	return command
}

// builtFrom names the program that runs, for a reproduction.
func builtFrom() string { return fmt.Sprintf("hyperscale %s, %s", version(), runtime.Version()) }

// simExit ends a command of the simulator; a verdict that was printed needs no
// further word.
func simExit(code int) error {
	if code == exitGood {
		return nil
	}
	return exitWith(code, nil)
}

// wrap breaks a text into indented lines.
func wrap(text string, indent, width int) string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && indent+len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	margin := strings.Repeat(" ", indent)
	return margin + strings.Join(append(lines, line), "\n"+margin)
}
