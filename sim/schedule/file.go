package schedule

import (
	"errors"
	"fmt"
	"time"

	"hyperscale/sim"
)

// Schema names the format; a new format gets a new name.
const Schema = "hyperscale.schedule/v1"

// Bounds of a file. A run of the swarm has some hundred faults.
const (
	bytesMax   = 8 << 20
	faultsMax  = 10_000
	nodesMax   = 10_000
	drawsMax   = 1_000
	textMax    = 8 << 10
	nameMax    = 256
	virtualMax = 365 * 24 * time.Hour // well below the horizon of a world
)

// ErrSchedule wraps each error about a file that cannot be played.
var ErrSchedule = errors.New("not a schedule of this version")

// File is one run that can be played again.
type File struct {
	Scenario string
	Seed     uint64
	Virtual  time.Duration
	Until    time.Duration // when a shortened run ends; zero: at Virtual
	Wire     bool
	Commit   string // of the program that wrote it
	Go       string // its Go version
	Hash     uint64 // of the run's trace
	Verdict  string // the outcome of the run: "violation"
	Detail   string
	Draws    []string // what the scenario drew, for people
	Faults   []sim.Fault
}

// Validate reports all faults.
func (f *File) Validate() error {
	var faults []error
	wrong := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if f.Scenario == "" || len(f.Scenario) > nameMax {
		wrong("scenario has %d bytes: name one of `hyperscale sim list`", len(f.Scenario))
	}
	if f.Virtual <= 0 || f.Virtual > virtualMax {
		wrong("virtual = %v must be above zero and at most %v: use the scenario's, such as \"5m0s\"", f.Virtual, virtualMax)
	}
	if f.Until < 0 || f.Until > f.Virtual {
		wrong("until = %v must be above zero and at most virtual = %v: leave it out to play the whole run", f.Until, f.Virtual)
	}
	for _, t := range []struct {
		name, text string
		bound      int
	}{{"commit", f.Commit, nameMax}, {"go", f.Go, nameMax}, {"verdict", f.Verdict, nameMax}, {"detail", f.Detail, textMax}} {
		if len(t.text) > t.bound {
			wrong("%s has %d bytes, above the bound of %d: shorten it", t.name, len(t.text), t.bound)
		}
	}
	if len(f.Draws) > drawsMax {
		wrong("draws has %d lines, above the bound of %d: they are for people, drop some", len(f.Draws), drawsMax)
	}
	for i, d := range f.Draws {
		if len(d) > textMax {
			wrong("draws[%d] has %d bytes, above the bound of %d: shorten it", i, len(d), textMax)
		}
	}
	if len(f.Faults) > faultsMax {
		wrong("faults has %d entries, above the bound of %d: split the run", len(f.Faults), faultsMax)
	}
	for i := range f.Faults {
		if err := validate(&f.Faults[i]); err != nil {
			wrong("faults[%d]: %w", i, err)
		}
	}
	return errors.Join(faults...)
}

func validate(f *sim.Fault) error {
	switch {
	case f.Kind == "" || len(f.Kind) > nameMax:
		return fmt.Errorf("kind has %d bytes: name a fault, such as %q", len(f.Kind), sim.FaultCrash)
	case f.At < 0 || f.At > virtualMax || f.For < 0 || f.For > virtualMax:
		return fmt.Errorf("%s at %v for %v must not be negative, nor above %v: correct the times", f.Kind, f.At, f.For, virtualMax)
	case f.Hold < 0 || f.Hold > virtualMax || len(f.Aim) > nameMax:
		return fmt.Errorf("%s: hold %v must not be negative, nor above %v, and aim has %d bytes, at most %d: correct them", f.Kind, f.Hold, virtualMax, len(f.Aim), nameMax)
	case len(f.Nodes) > nodesMax || len(f.Peers) > nodesMax:
		return fmt.Errorf("%s names %d nodes and %d peers, above the bound of %d: leave the list out to mean all", f.Kind, len(f.Nodes), len(f.Peers), nodesMax)
	}
	for _, list := range [][]string{f.Nodes, f.Peers} {
		for _, id := range list {
			if id == "" || len(id) > nameMax {
				return fmt.Errorf("%s names a node of %d bytes: use the names of the world, such as \"gate-1\"", f.Kind, len(id))
			}
		}
	}
	return nil
}
