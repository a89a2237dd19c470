package export

import (
	"time"

	"github.com/klauspost/compress/snappy"
)

// SamplesMax bounds the samples of one remote write: some 500 KB before compression.
const SamplesMax = seriesMax

// Sample is a value of a series at one moment. Its labels are in the order of their names, and __name__ is one of them.
type Sample struct {
	Labels [][2]string
	Value  float64
}

// Encode writes samples of one moment as a remote write of version 1, compressed.
func Encode(all []Sample, at time.Time) []byte {
	out := make([]series, len(all))
	for i, s := range all {
		out[i].value = s.Value
		for _, l := range s.Labels {
			out[i].labels = append(out[i].labels, label{l[0], l[1]})
		}
	}
	return snappy.Encode(nil, encode(out, at))
}

// DurationBounds are the bounds of the histogram of latencies, in nanoseconds.
func DurationBounds() []uint64 { return bounds() }

// Bound writes the bound of a bucket as the label le has it.
func Bound(ns uint64) string { return float(float64(ns) / nano) }

// BaseValue is what a threshold was judged by, in base units; of names the figure, as in the result file.
func BaseValue(of string, v float64) float64 { return v / baseUnit(of) }
