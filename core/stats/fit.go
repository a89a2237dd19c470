package stats

import (
	"fmt"
	"slices"
	"strings"

	"hyperscale/core/message"
)

// Fit makes statistics fit a number of encoded bytes, and adds lines to the log that say what
// that cost. Windows in time become coarser in latency and wider in turn, and then go. Then the histograms of phases and measures become
// coarser, all alike, then those of spans, then all others. Examples of errors go last. Counts, sums, minima and
// maxima stay exact, and quantiles only err upwards. Fit never writes to what s points to:
// others may share it.
func Fit(s *message.Stats, most int) {
	if SizeOf(s) <= most {
		return
	}
	s.Steps = slices.Clone(s.Steps)
	s.Logs = slices.Clone(s.Logs)
	for _, lose := range []func(*message.Stats, int) bool{fitWindows, fitPhases, fitSpans, fitHistograms} {
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

// windowsFew is the number of windows that are still worth a plot.
const windowsFew = 32

// fitWindows makes the buckets of windows coarser, to octaves at last, and in turn the windows up to
// sixteen times as wide. The windows themselves state both. It drops them if that does not help.
func fitWindows(s *message.Stats, most int) bool {
	for n := WindowsMax; n > windowsFew; n /= 2 {
		for i := range s.Steps {
			s.Steps[i].Windows = blunt(s.Steps[i].Windows)
		}
		if SizeOf(s) <= most {
			return true
		}
		s.Activity = widen(s.Activity)
		for i := range s.Steps {
			s.Steps[i].Windows = widen(s.Steps[i].Windows)
		}
		if SizeOf(s) <= most {
			return true
		}
	}
	lost := s.Activity.Width != 0
	if lost {
		s.Activity = message.Windows{Dropped: true}
	}
	for i := range s.Steps {
		if step := &s.Steps[i]; step.Windows.Width != 0 {
			step.Windows, lost = message.Windows{Dropped: true}, true
		}
	}
	if lost {
		tell(s, "the course over time is left out: ", "")
	}
	return SizeOf(s) <= most
}

func fitPhases(s *message.Stats, most int) bool {
	if !slices.ContainsFunc(s.Steps, func(step message.StepStats) bool { return len(step.Phases) > 0 || !step.Measures.IsZero() }) {
		return false
	}
	for i := range s.Steps {
		s.Steps[i].Phases = slices.Clone(s.Steps[i].Phases)
		s.Steps[i].Measures = cloneMeasures(s.Steps[i].Measures)
	}
	for bits := 1; bits <= subBits; bits++ {
		for i := range s.Steps {
			for k := range s.Steps[i].Phases {
				one := &s.Steps[i].Phases[k]
				one.Time = coarsen(one.Time, bits)
			}
			for k := range s.Steps[i].Measures.List {
				one := &s.Steps[i].Measures.List[k]
				one.Times = coarsen(one.Times, bits)
			}
		}
		tell(s, "percentiles of phases and measures are up to ", loss(bits))
		if SizeOf(s) <= most {
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
		if SizeOf(s) <= most {
			return true
		}
	}
	return false
}

// Bare removes from a step's figures all that can be large: its distributions and its course
// over time. It does not write to what s points to.
func Bare(s *message.StepStats) {
	s.Latency, s.Service, s.Metric, s.Phases = message.Histogram{}, message.Histogram{}, message.Histogram{}, nil
	s.Measures = cloneMeasures(s.Measures)
	for i := range s.Measures.List {
		s.Measures.List[i].Times = message.Histogram{}
	}
	s.Windows = message.Windows{Dropped: s.Windows.Dropped || s.Windows.Width != 0}
}

func loss(bits int) string {
	return fmt.Sprintf("%d.%d %% too high: ", 1000<<bits/subs/10, 1000<<bits/subs%10)
}

// SizeOf returns the size of figures in a message, plus a few bytes.
func SizeOf(s *message.Stats) int { return (&message.ExecProgress{Stats: *s}).Size() }

// tell puts a loss first among the lines of the log, in place of an earlier one of its kind.
func tell(s *message.Stats, what, howMuch string) {
	told, logged := Lines(s)
	told = slices.DeleteFunc(slices.Clone(told), func(line string) bool { return strings.HasPrefix(line, what) })
	told = slices.Insert(told, 0, fmt.Sprintf("%s%sthe figures of %d steps are more than a message holds", what, howMuch, len(s.Steps)))
	SetLines(s, told, logged)
}

// coarsen joins each 2^bits neighbouring buckets into the highest of them. The last used bucket
// stays the last, so that the maximum still lies in it, and the first stays the first. It
// leaves an invalid histogram alone: its reader rejects it.
func coarsen(in message.Histogram, bits int) message.Histogram {
	last, err := check(in)
	if err != nil || in.Count == 0 {
		return in
	}
	out := in
	out.Buckets = make([]byte, 0, len(in.Buckets))
	before, index := -1, -1 // of the last written one, of the last read one
	var at int              // the current bucket
	var sum uint64
	write := func() {
		if sum > 0 {
			out.Buckets = appendPair(out.Buckets, at-before, sum)
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
