package stats

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"hyperscale/core/message"
)

// Fit makes statistics fit a number of encoded bytes, and lines of the log tell what
// that cost. Windows in time become wider, then go; then the histograms of phases become
// coarser, all of them alike, then all histograms. Examples of errors go last. Counts,
// sums, minima and maxima stay exact, and quantiles only ever err upwards. What s points
// to is never written to: others may have it.
func Fit(s *message.Stats, most int) {
	if sizeOf(s) <= most {
		return
	}
	s.Steps = slices.Clone(s.Steps)
	s.Logs = slices.Clone(s.Logs)
	for _, lose := range []func(*message.Stats, int) bool{fitWindows, fitPhases, fitHistograms} {
		if lose(s, most) {
			return
		}
	}
	for i := range s.Steps {
		step := &s.Steps[i]
		step.Errors = slices.Clone(step.Errors)
		for k := range step.Errors {
			step.Errors[k].Example = ""
		}
	}
}

// windowsFew is how many windows are still worth a plot.
const windowsFew = 32

// fitWindows makes windows up to sixteen times as wide, which the windows themselves
// tell, and leaves them out if that does not help.
func fitWindows(s *message.Stats, most int) bool {
	for n := WindowsMax; n > windowsFew; n /= 2 {
		for i := range s.Steps {
			s.Steps[i].Windows = widen(s.Steps[i].Windows)
		}
		if sizeOf(s) <= most {
			return true
		}
	}
	lost := false
	for i := range s.Steps {
		if step := &s.Steps[i]; step.Windows.Width != 0 {
			step.Windows, lost = message.Windows{Dropped: true}, true
		}
	}
	if lost {
		tell(s, "the course over time is left out: ", "")
	}
	return sizeOf(s) <= most
}

func fitPhases(s *message.Stats, most int) bool {
	if !slices.ContainsFunc(s.Steps, func(step message.StepStats) bool { return len(step.Phases) > 0 }) {
		return false
	}
	for i := range s.Steps {
		s.Steps[i].Phases = slices.Clone(s.Steps[i].Phases)
	}
	for bits := 1; bits <= subBits; bits++ {
		for i := range s.Steps {
			for k := range s.Steps[i].Phases {
				one := &s.Steps[i].Phases[k]
				one.Time = coarsen(one.Time, bits)
			}
		}
		tell(s, "percentiles of phases are up to ", loss(bits))
		if sizeOf(s) <= most {
			return true
		}
	}
	return false
}

func fitHistograms(s *message.Stats, most int) bool {
	for bits := 1; bits <= subBits; bits++ {
		s.Generator.Lag = coarsen(s.Generator.Lag, bits)
		for i := range s.Steps {
			step := &s.Steps[i]
			step.Latency, step.Service, step.Metric = coarsen(step.Latency, bits), coarsen(step.Service, bits), coarsen(step.Metric, bits)
		}
		tell(s, "percentiles are up to ", loss(bits))
		if sizeOf(s) <= most {
			return true
		}
	}
	return false
}

// Bare leaves out of a step's figures all that can be large: its distributions and its
// course over time. What it points to is not written to.
func Bare(s *message.StepStats) {
	s.Latency, s.Service, s.Metric, s.Phases = message.Histogram{}, message.Histogram{}, message.Histogram{}, nil
	s.Windows = message.Windows{Dropped: s.Windows.Dropped || s.Windows.Width != 0}
}

func loss(bits int) string {
	return fmt.Sprintf("%d.%d %% too high: ", 1000<<bits/subs/10, 1000<<bits/subs%10)
}

// sizeOf is what s takes in a message, and a few bytes more.
func sizeOf(s *message.Stats) int { return (&message.ExecProgress{Stats: *s}).Size() }

// tell puts a loss first among the lines of the log, instead of an earlier one of its
// kind.
func tell(s *message.Stats, what, howMuch string) {
	s.Logs = slices.DeleteFunc(s.Logs, func(line string) bool { return strings.HasPrefix(line, what) })
	s.Logs = slices.Insert(s.Logs, 0, fmt.Sprintf("%s%sthe figures of %d steps are more than a message holds", what, howMuch, len(s.Steps)))
	s.Logs = s.Logs[:min(len(s.Logs), LogsMax)]
}

// coarsen joins each 2^bits neighbouring buckets into the highest of them. The last
// bucket in use stays the last, so that the maximum still lies in it, and the first
// stays the first. A message that is no histogram stays as it is: who reads it refuses
// it.
func coarsen(in message.Histogram, bits int) message.Histogram {
	last, err := check(in)
	if err != nil || in.Count == 0 {
		return in
	}
	out := in
	out.Buckets = make([]byte, 0, len(in.Buckets))
	before, index := -1, -1 // of the last that is written, of the last that was read
	var at int              // the bucket that is gathered
	var sum uint64
	write := func() {
		if sum > 0 {
			out.Buckets = binary.AppendUvarint(out.Buckets, uint64(at-before))
			out.Buckets = binary.AppendUvarint(out.Buckets, sum)
			before, sum = at, 0
		}
	}
	for rest := in.Buckets; len(rest) > 0; {
		gap, n, left, _ := pair(rest) // check has read it
		to := min((index+int(gap))|(1<<bits-1), last)
		if index < 0 {
			to = int(gap) - 1
		}
		index, rest = index+int(gap), left
		if to != at {
			write()
		}
		at, sum = to, sum+n
	}
	write()
	out.Buckets = slices.Clip(out.Buckets)
	return out
}
