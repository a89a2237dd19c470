package main

import (
	"fmt"
	"math"
	"time"

	"hyperscale/runtime/progress"
	"hyperscale/runtime/ui"
)

// begin says what is about to happen where that is not what was asked for.
func (s *swarm) begin() {
	if s.journal == nil {
		return
	}
	if n := s.journal.over; n > 0 {
		fmt.Fprintf(s.errors, "%s holds %s of another program or --virtual: removed, all are played again\n", s.flags.out, counted(n, "run"))
	}
	if n := len(s.journal.done); n > 0 {
		fmt.Fprintf(s.errors, "%s holds %s of this program: they are not played again\n", s.flags.out, counted(n, "run"))
	}
}

// whole is how many runs there are to play; zero when only the budget ends it.
func (s *swarm) whole() uint64 {
	n := s.flags.seeds.last - s.flags.seeds.first
	if n >= math.MaxUint64/1024 {
		return 0
	}
	return (n + 1) * uint64(len(s.scenarios))
}

func (s *swarm) progress() {
	now := time.Now()
	s.line.Tell(now, func() string { return s.status(now.Sub(s.started)) })
}

// status is one line with an end in sight.
func (s *swarm) status(took time.Duration) string {
	whole := s.whole()
	line := fmt.Sprintf("%s: %s", s.flags.scenario, ui.Count(uint64(s.total.Seeds)))
	if whole > 0 {
		line += " of " + ui.Count(whole)
	}
	line += fmt.Sprintf(" runs, %d failed, %s", len(s.failed), speed(s.virtual, took))
	if left, known := s.left(whole, took); known {
		line += ", " + ui.Duration(left) + " left"
	}
	return line
}

// left guesses how long it still takes, from the runs of this invocation.
func (s *swarm) left(whole uint64, took time.Duration) (time.Duration, bool) {
	left, known := time.Duration(0), false
	if whole > 0 {
		left, known = progress.Left(took, float64(s.total.Seeds-s.resumed), float64(whole)-float64(s.resumed))
	}
	if budget := max(0, s.flags.budget-took); s.flags.budget > 0 && (!known || budget < left) {
		left, known = budget, true
	}
	return left.Round(time.Second), known
}

// goOn says how an interrupted swarm is continued.
func (s *swarm) goOn() string {
	if s.journal == nil {
		return ""
	}
	return ": the same command goes on from here"
}
