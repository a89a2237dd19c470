package simulate

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/runtime/ui/units"
	"hyperscale/scenarios"
	"hyperscale/sim"
)

func newSimRunCommand() *cobra.Command {
	var seeds seedRange
	var virtual, until time.Duration
	var wire bool
	var crowd int
	var watch watchFlags
	cmd := &cobra.Command{
		Use:   "run NAME",
		Short: "play a scenario from a seed",
		Long: `Play a scenario from a seed. --virtual lets the world last longer, or shorter if the
scenario allows that: a directed world's faults have fixed times. --until cuts any
run short: what happens until then stays the same, and what only the end shows is
not judged.`,
		Example: "  hyperscale sim run steady\n" +
			"  hyperscale sim run storm --seed 1..20\n" +
			"  hyperscale sim run storm --seed 7 --story first --picture storm.html --trace storm.jsonl",
		Args: command.Exactly("NAME"),
		RunE: command.Runs(func(cmd *cobra.Command, args []string) error {
			s, err := findScenario(args[0])
			if err != nil {
				return err
			}
			if err := longEnough(s, virtual); err != nil {
				return err
			}
			if err := s.CheckCrowd(crowd); err != nil {
				return command.Usage("--crowd %w", err)
			}
			if err := watch.check(seeds.many()); err != nil {
				return err
			}
			collectLess()
			return interruptible(func() error {
				return runSeeds(cmd.OutOrStdout(), s, seeds, scenarios.Options{Virtual: virtual, Until: until, Wire: wire, Crowd: crowd}, &watch)
			})
		}),
	}
	flags := cmd.Flags()
	addSeeds(flags, &seeds, "seed", seedRange{1, 1}, "what everything is drawn from, or several, one after the other")
	addVirtual(flags, &virtual)
	flags.Var(newVirtualSpan(&until), "until", "cut the run here, and judge only what holds all the time")
	flags.BoolVar(&wire, "wire", false, wireUsage)
	flags.IntVar(&crowd, "crowd", 0, "how many members a crowded world has, such as paused-manager-of-many, instead of what the seed draws")
	watch.add(flags)
	return cmd
}

// reproRun is the command that plays a run again as these options do.
func reproRun(r *scenarios.Report, o scenarios.Options) string {
	command := repro(r.Scenario, r.Seed, lastsFor(r, o), o.Wire)
	if o.Until > 0 {
		command += " --until " + o.Until.String()
	}
	if o.Crowd > 0 {
		command += fmt.Sprintf(" --crowd %d", o.Crowd)
	}
	return command
}

// runSeeds plays one seed after the other; the exit code is that of the worst.
func runSeeds(out io.Writer, s scenarios.Scenario, seeds seedRange, o scenarios.Options, watch *watchFlags) error {
	worst, played := 0, 0
	for seed := seeds.first; ; seed++ {
		o.Seed = seed
		r, took, err := runSeed(out, s, o, watch)
		if err != nil {
			return err
		}
		played++
		worst = max(worst, r.Outcome.ExitCode())
		switch {
		case watch.json:
			err = json.NewEncoder(out).Encode(lineOf(&r, took))
		case seeds.many():
			err = reportBriefly(out, &r, took, o)
		default:
			err = reportRun(out, &r, took, reproRun(&r, o))
		}
		if err != nil {
			return err
		}
		if seed == seeds.last { // also where one more would be none
			break
		}
	}
	return simExit(worst)
}

func runSeed(out io.Writer, s scenarios.Scenario, o scenarios.Options, watch *watchFlags) (r scenarios.Report, took time.Duration, err error) {
	w, err := watch.watch()
	if err != nil {
		return r, 0, err
	}
	defer w.close()
	if r, took, err = w.play(s, o); err != nil {
		return r, took, err
	}
	return r, took, w.tell(out)
}

func verdictOf(r *scenarios.Report) string {
	if r.Outcome == scenarios.OK {
		return "ok"
	}
	return strings.ToUpper(string(r.Outcome))
}

// reportBriefly is a line for each seed of many; a failure says how to play it
// again.
func reportBriefly(out io.Writer, r *scenarios.Report, took time.Duration, o scenarios.Options) error {
	text := fmt.Sprintf("%s, seed %d: %s, %s events, %d jobs accepted, %d ended, %s\n", r.Scenario, r.Seed, verdictOf(r),
		units.Count(r.Events), r.Accepted, r.Ended, speed(r.Virtual, took))
	if r.Outcome != scenarios.OK {
		text += fmt.Sprintf("  %s\n  again: %s\n", units.Clean(r.Detail), reproRun(r, o))
		text += stackOf(r)
	}
	_, err := io.WriteString(out, text)
	return err
}

// reportRun prints a run for a person, and the command that plays it again.
func reportRun(out io.Writer, r *scenarios.Report, took time.Duration, again string) error {
	var b strings.Builder
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "  %-9s%s\n", name, fmt.Sprintf(format, args...))
	}
	fmt.Fprintf(&b, "%s, seed %d: %s\n", r.Scenario, r.Seed, verdictOf(r))
	row("played", "%s of virtual time in %s: %s, %s events", units.Duration(r.Virtual), units.Duration(took), speed(r.Virtual, took), units.Count(r.Events))
	row("jobs", "%d accepted, %d ended", r.Accepted, r.Ended)
	if len(r.Draws) > 0 {
		row("drawn", "%s", listed(r.Draws))
	}
	if len(r.Faults) > 0 {
		row("faults", "%s", listed(countFaults(r.Faults)))
	}
	row("hash", "%016x", r.Hash)
	if r.Outcome == scenarios.OK {
		if r.Detail != "" {
			row("detail", "%s", units.Clean(r.Detail))
		}
		_, err := io.WriteString(out, b.String())
		return err
	}
	b.WriteString("\n")
	b.WriteString(wrap(units.Clean(r.Detail), 2, 100) + "\n")
	for _, v := range others(r) {
		b.WriteString(wrap("also: "+units.Clean(v), 2, 100) + "\n")
	}
	fmt.Fprintf(&b, "\nagain: %s\n   by: %s\n look: add --story first, --picture run.html, or --trace run.jsonl\n", again, builtFrom())
	b.WriteString(stackOf(r))
	_, err := io.WriteString(out, b.String())
	return err
}

// othersMax is how many further violations it prints; the first one tells the cause.
const othersMax = 5

func others(r *scenarios.Report) []string {
	var texts []string
	for i, v := range r.Violations {
		text := v.String()
		if text == r.Detail {
			continue
		}
		if len(texts) == othersMax {
			return append(texts, fmt.Sprintf("%d more", len(r.Violations)-i))
		}
		texts = append(texts, text)
	}
	return texts
}

// countFaults counts the faults of each kind.
func countFaults(faults []sim.Fault) []string {
	counts := map[string]int{}
	var kinds []string
	for _, f := range faults {
		if counts[f.Kind]++; counts[f.Kind] == 1 {
			kinds = append(kinds, f.Kind)
		}
	}
	slices.Sort(kinds)
	for i, k := range kinds {
		kinds[i] = fmt.Sprintf("%d %s", counts[k], k)
	}
	return kinds
}

// stackOf is where a panic came from, without the frames of the recovery.
func stackOf(r *scenarios.Report) string {
	if r.Stack == "" {
		return ""
	}
	_, from, ok := strings.Cut(r.Stack, "panic(")
	if !ok {
		from = r.Stack
	} else {
		from = "panic(" + from
	}
	return "\n" + from
}
