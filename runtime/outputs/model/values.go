package model

import (
	"fmt"
	"math"

	"hyperscale/core/message"
	"hyperscale/core/stats"
)

// Bounds of what services take of one distribution.
const (
	ValuesMax = 150  // values with counts: CloudWatch's bound
	sampleMax = 1000 // values without counts that Sample returns as they are
)

// Value stands for so many requests.
type Value struct{ Nanos, Count uint64 }

// Values are a distribution in at most ValuesMax values with counts, ascending. The smallest value, the largest one and the
// quantiles of Quantiles are those of the histogram. All others stand for neighbours at the least ratio between the
// largest and the smallest of them that leaves ValuesMax, and are their mean, so the sum stays true.
func Values(in message.Histogram) ([]Value, error) {
	h, err := stats.FromWire(in)
	if err != nil {
		return nil, fmt.Errorf("convert a distribution: %w", err)
	}
	var all []Value
	h.Each(func(largest, n uint64) { all = append(all, Value{largest, n}) })
	if len(all) <= ValuesMax {
		return all, nil
	}
	alone := map[uint64]bool{all[0].Nanos: true, all[len(all)-1].Nanos: true}
	for _, q := range summary {
		alone[h.Quantile(q.ppm)] = true
	}
	fine, coarse := 0, ratioSteps*64 // in powers of two of a step: 2^64 joins all
	for fine+1 < coarse {
		if middle := (fine + coarse) / 2; len(joined(all, alone, middle)) > ValuesMax {
			fine = middle
		} else {
			coarse = middle
		}
	}
	return joined(all, alone, coarse), nil
}

// ratioSteps are the steps of a ratio of two.
const ratioSteps = 256

// joined joins neighbours whose largest is at most 2^(steps/ratioSteps) times their smallest, but for those that stand alone.
func joined(all []Value, alone map[uint64]bool, steps int) (out []Value) {
	ratio := math.Exp2(float64(steps) / ratioSteps)
	for i := 0; i < len(all); {
		end := i + 1
		for !alone[all[i].Nanos] && end < len(all) && !alone[all[end].Nanos] && float64(all[end].Nanos) <= ratio*float64(max(all[i].Nanos, 1)) {
			end++
		}
		out = append(out, mean(all[i:end]))
		i = end
	}
	return out
}

// mean stands for neighbours.
func mean(group []Value) (out Value) {
	if len(group) == 1 {
		return group[0]
	}
	sum := 0.0
	for _, v := range group {
		out.Count += v.Count
		sum += float64(v.Nanos) * float64(v.Count)
	}
	out.Nanos = min(max(uint64(sum/float64(out.Count)), group[0].Nanos), group[len(group)-1].Nanos)
	return out
}

// Sample is a distribution as values without counts, ascending: each request, if there are at most 1,000, else the 1,001
// quantiles from 0 to 1 in steps of 1/1000.
func Sample(in message.Histogram) ([]uint64, error) {
	h, err := stats.FromWire(in)
	if err != nil {
		return nil, fmt.Errorf("convert a distribution: %w", err)
	}
	var out []uint64
	count, seen := h.Count(), uint64(0)
	h.Each(func(largest, n uint64) {
		seen += n
		for count <= sampleMax && n > 0 {
			out = append(out, largest)
			n--
		}
		for count > sampleMax && len(out) <= sampleMax && rankOf(count, len(out)) <= seen {
			out = append(out, largest)
		}
	})
	return out, nil
}

// rankOf is the rank of a quantile in thousandths, from 1.
func rankOf(count uint64, thousandths int) uint64 {
	whole, rest := count/1000, count%1000
	return max(1, whole*uint64(thousandths)+(rest*uint64(thousandths)+999)/1000)
}
