package outputs

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"hyperscale/core/stats"
)

// TestFiguresOfALine: each field of a line is the figure of its name. All differ, so none stands for another.
func TestFiguresOfALine(t *testing.T) {
	var h stats.Histogram
	for ms := uint64(1); ms <= 2000; ms++ {
		h.Record(ms * 1_000_000)
	}
	row := Row{Kind: RowWindow, Figures: &Figures{Begun: 11, OK: 12, Failed: 13, TimedOut: 14, Cancelled: 15, Dropped: 16, Skipped: 17, BytesIn: 18, BytesOut: 19, ActiveUsers: 20, Latency: h.Wire()}}
	var got map[string]any
	require.NoError(t, json.Unmarshal(AppendJSON(nil, &row), &got))
	for name, want := range map[string]float64{"begun": 11, "ok": 12, "failed": 13, "timed_out": 14, "cancelled": 15, "dropped": 16, "skipped": 17, "bytes_in": 18, "bytes_out": 19, "active_users": 20} {
		require.Equal(t, want, got[name], name)
	}
	for name, ms := range map[string]float64{"p50_ns": 1000, "p90_ns": 1800, "p95_ns": 1900, "p99_ns": 1980, "p999_ns": 1998, "min_ns": 1, "max_ns": 2000, "sum_ns": 2001000} {
		require.InEpsilon(t, ms*1e6, got[name], 0.005, name)
	}
}
