package stats

import (
	"encoding/binary"
	"fmt"
	"slices"

	"hyperscale/core/message"
)

// Fit makes statistics fit a number of encoded bytes: histograms become coarser, all
// of them alike, until they do, and a line of the log tells by how much. Examples of
// errors go last. Counts, sums, minima and maxima stay exact, and quantiles only ever
// err upwards. What s points to is never written to: others may have it.
func Fit(s *message.Stats, most int) {
	if sizeOf(s) <= most {
		return
	}
	s.Steps = slices.Clone(s.Steps)
	s.Logs = slices.Clone(s.Logs)
	for bits := 1; bits <= subBits; bits++ {
		s.Generator.Lag = coarsen(s.Generator.Lag, bits)
		for i := range s.Steps {
			step := &s.Steps[i]
			step.Latency, step.Service, step.Metric = coarsen(step.Latency, bits), coarsen(step.Service, bits), coarsen(step.Metric, bits)
		}
		tell(s, bits)
		if sizeOf(s) <= most {
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

// sizeOf is what s takes in a message, and a few bytes more.
func sizeOf(s *message.Stats) int { return (&message.ExecProgress{Stats: *s}).Size() }

// tell puts the loss first among the lines of the log, instead of an earlier one.
func tell(s *message.Stats, bits int) {
	const why = "percentiles are up to "
	line := fmt.Sprintf("%s%d.%d %% too high: the figures of %d steps are more than a message holds", why, 1000<<bits/subs/10, 1000<<bits/subs%10, len(s.Steps))
	if len(s.Logs) > 0 && len(s.Logs[0]) > len(why) && s.Logs[0][:len(why)] == why {
		s.Logs[0] = line
		return
	}
	s.Logs = slices.Insert(s.Logs, 0, line)
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
