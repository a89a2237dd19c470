package simulate

import (
	"bytes"
	"os"
	"runtime"
	"strings"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/scenarios"
	"hyperscale/sim/schedule"
)

func readSchedule(name string) (*schedule.File, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, command.Usage("%w: give a file that `sim swarm --out` wrote", err)
	}
	defer file.Close()
	f, err := schedule.Read(file)
	if err != nil {
		return nil, command.Usage("%s: %w", name, err)
	}
	return f, nil
}

// optionsOf returns the options that play a file.
func optionsOf(f *schedule.File) scenarios.Options {
	return scenarios.Options{Seed: f.Seed, Virtual: f.Virtual, Until: f.Until, Wire: f.Wire, Faults: f.Faults}
}

// writeSchedule writes a run as a file that can be played again.
func writeSchedule(name string, o scenarios.Options, r *scenarios.Report, verdict scenarios.Outcome, detail string) error {
	f := schedule.File{
		Scenario: r.Scenario, Seed: r.Seed, Virtual: lastsFor(r, o), Until: o.Until, Wire: o.Wire, Commit: command.Version(), Go: runtime.Version(), Hash: r.Hash,
		Verdict: string(verdict), Detail: schedule.Clip(detail), Draws: r.Draws, Faults: r.Faults,
	}
	var text bytes.Buffer
	if err := f.Write(&text); err != nil {
		return err
	}
	return os.WriteFile(name, text.Bytes(), 0o644)
}

// smallName is the file of a schedule's small form.
func smallName(file string) string { return strings.TrimSuffix(file, ".sched") + ".min.sched" }
