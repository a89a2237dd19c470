package view

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/carrier"
)

// TestOutputsKeepTheirFigures: each figure of a sink has its own name.
func TestOutputsKeepTheirFigures(t *testing.T) {
	total := outputs.Report{Rows: 99, Delivered: 1, Rejected: 2, Lost: 3, LostRequests: 4, PerhapsTwice: 5, Tries: 99}
	got := OutputsOf([]carrier.Stats{{Sink: "warehouse", Kind: "postgres", Window: 6, Default: true, Total: total, Tries: 7, Waiting: 8, Bytes: 9, Behind: 10 * time.Second, Why: "away"}, {Required: true}})
	require.Equal(t, Output{
		Name: "warehouse", Kind: "postgres", WindowNS: 6, Default: true, Delivered: 1, Rejected: 2, Lost: 3, LostRequests: 4, PerhapsTwice: 5, FailedTries: 7,
		Waiting: 8, WaitingBytes: 9, BehindNS: 10_000_000_000, Error: "away",
	}, got[0])
	require.Equal(t, Output{Required: true}, got[1])
	require.NotNil(t, OutputsOf(nil))
}
