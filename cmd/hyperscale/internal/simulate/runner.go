package simulate

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/core/node"
	"hyperscale/scenarios"
	"hyperscale/sim"
)

// runnerCommand is the name of the process that plays a swarm's runs.
const runnerCommand = "runner"

// simTask is one run that a swarm wants played, a line of a runner's stdin.
type simTask struct {
	Scenario string        `json:"scenario"`
	Seed     uint64        `json:"seed"`
	Virtual  time.Duration `json:"virtual_ns"` // zero: the scenario's
	Wire     bool          `json:"wire"`
	Keep     string        `json:"keep"`   // where a failure is kept; empty: nowhere
	Trace    bool          `json:"trace"`  // keep the end of its trace, too
	Canary   bool          `json:"canary"` // the run must break something

	Shrink string        `json:"shrink,omitempty"`    // instead: make the failure of this file small,
	Budget time.Duration `json:"budget_ns,omitempty"` // for so long
}

// simResult is a runner's answer: one line of its stdout and of the swarm's journal.
type simResult struct {
	simLine
	Files   []string       `json:"files,omitempty"`    // that keep a failure
	Reached map[string]int `json:"reached,omitempty"`  // rare states
	Asked   time.Duration  `json:"asked_ns,omitempty"` // --virtual; zero: the scenario's
	Wire    bool           `json:"wire,omitempty"`     // --wire

	Shrunk string `json:"shrunk,omitempty"` // the file that was made small; the run counts nowhere
	Left   int    `json:"left,omitempty"`   // of its faults
	Faults int    `json:"faults,omitempty"` // that there were
}

// collectLess has the collector wait for more: a world keeps a few MiB and leaves many
// times that behind.
func collectLess() { debug.SetGCPercent(400) }

func newSimRunnerCommand() *cobra.Command {
	return &cobra.Command{
		Use:    runnerCommand,
		Short:  "plays the runs of a swarm, started by it",
		Hidden: true,
		Args:   command.Exactly(),
		RunE: command.Runs(func(cmd *cobra.Command, _ []string) error {
			collectLess()
			return runTasks(cmd.InOrStdin(), cmd.OutOrStdout())
		}),
	}
}

// runTasks plays what stdin says until it ends.
func runTasks(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	answers := json.NewEncoder(out)
	for lines.Scan() {
		var t simTask
		if err := json.Unmarshal(lines.Bytes(), &t); err != nil {
			return fmt.Errorf("read a task: %w", err)
		}
		result, err := runTask(t)
		if err != nil {
			return err
		}
		if err := answers.Encode(result); err != nil {
			return fmt.Errorf("answer the swarm: %w", err)
		}
	}
	return lines.Err()
}

func runTask(t simTask) (simResult, error) {
	if t.Shrink != "" {
		return shrinkTask(t)
	}
	s, err := findScenario(t.Scenario)
	if err != nil {
		return simResult{}, err
	}
	o := scenarios.Options{Seed: t.Seed, Virtual: t.Virtual, Wire: t.Wire}
	start := time.Now()
	r := s.Run(o)
	result := simResult{simLine: lineOf(&r, time.Since(start)), Reached: r.Reached, Faults: len(r.Faults)}
	if t.Canary {
		return sing(result, &r), nil
	}
	if r.Outcome == scenarios.OK {
		return result, nil
	}
	o.Virtual = lastsFor(&r, o)
	trace, again := traceFailure(s, o, &r)
	if again.Hash != r.Hash {
		result.Verdict = scenarios.Diverged
		result.Detail = fmt.Sprintf("two runs of one seed differ: hash %016x after %d events, then %016x after %d; the first came to: %s",
			r.Hash, r.Events, again.Hash, again.Events, r.Detail)
	}
	if t.Keep == "" {
		return result, nil
	}
	if !t.Trace {
		trace = nil
	}
	result.Files, err = keep(t.Keep, o, &r, &result, trace)
	return result, err
}

// shrinkTask makes a failure small that was kept.
func shrinkTask(t simTask) (simResult, error) {
	result := simResult{simLine: simLine{Scenario: t.Scenario, Seed: t.Seed, Hash: fmt.Sprintf("%016x", 0)}, Shrunk: t.Shrink}
	f, err := readSchedule(t.Shrink)
	if err != nil {
		return result, err
	}
	s, err := findScenario(f.Scenario)
	if err != nil {
		return result, err
	}
	start := time.Now()
	r := s.Run(optionsOf(f))
	small, ok := s.Shrink(optionsOf(f), r, func() bool { return time.Since(start) >= t.Budget }, nil)
	if !ok {
		result.Detail = "it does not fail again"
		return result, nil
	}
	name := smallName(t.Shrink)
	if err := writeSchedule(name, small.Options, &small.Report, small.Report.Outcome, small.Report.Detail); err != nil {
		return result, fmt.Errorf("keep a small failure: %w", err)
	}
	result.simLine = lineOf(&small.Report, time.Since(start))
	result.Files, result.Faults, result.Left = []string{name}, len(r.Faults), len(small.Report.Faults)
	return result, nil
}

// sing judges the canary: whatever else is wrong, the checker must see something
// in a world that breaks an invariant on purpose.
func sing(result simResult, r *scenarios.Report) simResult {
	if len(r.Violations) > 0 || r.Outcome == scenarios.Panicked {
		result.Verdict = scenarios.OK
		return result
	}
	result.Verdict, result.Detail = scenarios.Violation, "the checker saw nothing in a world that must break something"
	return result
}

// traceFailure plays a run once more and returns the last lines of its trace, up
// to a second behind what broke.
func traceFailure(s scenarios.Scenario, o scenarios.Options, r *scenarios.Report) ([]byte, scenarios.Report) {
	end := &lastLines{most: traceMax}
	o.Observer = untilObserver{sim.NewTracer(end), o.Virtual}
	if len(r.Violations) > 0 {
		o.Observer = untilObserver{sim.NewTracer(end), r.Violations[0].At + time.Second}
	}
	again := s.Run(o)
	return end.lines(), again
}

// keep writes a failure's schedule, and the end of its trace if there is one.
func keep(dir string, o scenarios.Options, r *scenarios.Report, result *simResult, trace []byte) ([]string, error) {
	name := filepath.Join(dir, fmt.Sprintf("%s-%d", r.Scenario, r.Seed))
	files := []string{name + ".sched"}
	err := writeSchedule(files[0], o, r, result.Verdict, result.Detail)
	if trace != nil {
		files = append(files, name+".jsonl")
		err = errors.Join(err, os.WriteFile(files[1], trace, 0o644))
	}
	if err != nil {
		return nil, fmt.Errorf("keep a failure: %w", err)
	}
	return files, nil
}

// untilObserver passes on what happens up to a time.
type untilObserver struct {
	to    sim.Observer
	until time.Duration
}

// Input implements sim.Observer.
func (u untilObserver) Input(at time.Duration, id node.ID, in *node.Input) {
	if at <= u.until {
		u.to.Input(at, id, in)
	}
}

// Effect implements sim.Observer.
func (u untilObserver) Effect(at time.Duration, id node.ID, e *sim.Effect) {
	if at <= u.until {
		u.to.Effect(at, id, e)
	}
}

// Event implements sim.Observer.
func (u untilObserver) Event(at time.Duration, id node.ID, incarnation uint64, e node.Event) {
	if at <= u.until {
		u.to.Event(at, id, incarnation, e)
	}
}

// Fault implements sim.Observer.
func (u untilObserver) Fault(at time.Duration, f sim.Fault) {
	if at <= u.until {
		u.to.Fault(at, f)
	}
}

// traceMax bounds the kept end of a trace.
const traceMax = 1 << 20

// lastLines is a writer that keeps the last lines.
type lastLines struct {
	most int
	text []byte
}

// Write implements io.Writer; the tracer writes whole lines.
func (t *lastLines) Write(b []byte) (int, error) {
	if len(t.text)+len(b) > 2*t.most {
		t.text = append(t.text[:0], t.lines()...)
	}
	t.text = append(t.text, b...)
	return len(b), nil
}

// lines returns the last whole lines that fit.
func (t *lastLines) lines() []byte {
	if len(t.text) <= t.most {
		return t.text
	}
	cut := t.text[len(t.text)-t.most:]
	if t.text[len(t.text)-t.most-1] == '\n' {
		return cut
	}
	return cut[bytes.IndexByte(cut, '\n')+1:]
}
