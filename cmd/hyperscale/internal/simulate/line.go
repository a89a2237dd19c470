package simulate

import (
	"fmt"
	"runtime"
	"strings"
	"time"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/runtime/ui/units"
	"hyperscale/scenarios"
)

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

// repro is the command that plays a run again, and the program that must play it.
func repro(scenario string, seed uint64, virtual time.Duration, wire bool) string {
	again := fmt.Sprintf("%s sim run %s --seed %d", command.Called(), scenario, seed)
	if s, err := scenarios.Find(scenario); err == nil && virtual != s.Virtual {
		again += " --virtual " + virtual.String()
	}
	if wire {
		again += " --wire"
	}
	return again
}

// builtFrom names the program that runs, for a reproduction.
func builtFrom() string {
	return fmt.Sprintf("hyperscale %s, %s", command.Version(), runtime.Version())
}

// lastsFor is how long the world was to last.
func lastsFor(r *scenarios.Report, o scenarios.Options) time.Duration {
	if o.Virtual > 0 {
		return o.Virtual
	}
	if s, err := scenarios.Find(r.Scenario); err == nil {
		return s.Virtual
	}
	return r.Virtual
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

// speed is how many times faster than the real thing.
func speed(virtual, real time.Duration) string {
	return units.Count(uint64(virtual/max(real, time.Microsecond))) + " times real time"
}

// listed wraps items behind a name of reportRun's rows; none is broken in two.
func listed(items []string) string {
	const hard = "\x1f" // no space to wrap
	text := strings.ReplaceAll(strings.Join(items, ",\n"), " ", hard)
	return strings.ReplaceAll(strings.TrimSpace(wrap(text, 11, 100)), hard, " ")
}
