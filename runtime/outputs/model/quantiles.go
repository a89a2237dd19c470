package model

import (
	"fmt"

	"hyperscale/core/message"
	"hyperscale/core/stats"
)

// Quantile is one of the quantiles that places without histograms receive. It belongs to its window: an
// average of quantiles is none.
type Quantile struct {
	Name  string // "p99"
	Nanos uint64
}

// summary are min, the quantiles in parts of a million, and max.
var summary = []struct {
	name string
	ppm  uint32
}{{"p50", 500_000}, {"p90", 900_000}, {"p95", 950_000}, {"p99", 990_000}, {"p999", 999_000}}

// Quantiles are min, mean, p50, p90, p95, p99, p999 and max. A histogram without values has none.
func Quantiles(h message.Histogram) ([]Quantile, error) {
	if h.Count == 0 {
		return nil, nil
	}
	out := []Quantile{{"min", h.Min}, {"mean", h.Sum / h.Count}}
	for _, q := range summary {
		v, err := stats.Quantile(h, q.ppm)
		if err != nil {
			return nil, fmt.Errorf("%s of a window: %w", q.name, err)
		}
		out = append(out, Quantile{q.name, v})
	}
	return append(out, Quantile{"max", h.Max}), nil
}
