package relational

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"hyperscale/core/stats"
	"hyperscale/runtime/outputs"
)

// TestColumnsOfFigures: each column is the figure of its name. All differ, so none stands for another.
func TestColumnsOfFigures(t *testing.T) {
	var h stats.Histogram
	for ms := uint64(1); ms <= 2000; ms++ {
		h.Record(ms * 1_000_000)
	}
	row := outputs.Row{Kind: outputs.RowWindow, Figures: &outputs.Figures{Begun: 11, OK: 12, Failed: 13, TimedOut: 14, Cancelled: 15, Dropped: 16, Skipped: 17, BytesIn: 18, BytesOut: 19, ActiveUsers: 20, Latency: h.Wire()}}
	got := map[string]float64{}
	for _, c := range figures() {
		if v := c.from(&row); v != nil {
			got[c.name], _ = strconv.ParseFloat(*v, 64) // texts are none of those below
		}
	}
	for name, want := range map[string]float64{"begun": 11, "ok": 12, "failed": 13, "timed_out": 14, "cancelled": 15, "dropped": 16, "skipped": 17, "bytes_in": 18, "bytes_out": 19, "active_users": 20} {
		require.InDelta(t, want, got[name], 0, name)
	}
	for name, ms := range map[string]float64{"p50_ns": 1000, "p90_ns": 1800, "p95_ns": 1900, "p99_ns": 1980, "p999_ns": 1998, "min_ns": 1, "max_ns": 2000, "sum_ns": 2001000} {
		require.InEpsilon(t, ms*1e6, got[name], 0.005, name)
	}
}
