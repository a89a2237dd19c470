package output

import (
	"testing"

	"github.com/stretchr/testify/require"

	"hyperscale/core/message"
)

// TestFiguresKeepTheirNames: sums of rows would add up, too, if two counts had changed their names.
func TestFiguresKeepTheirNames(t *testing.T) {
	base := &message.StepStats{Started: 100, OK: 100, Failed: 100, TimedOut: 100, Cancelled: 100, Dropped: 100, Skipped: 100, BytesIn: 100, BytesOut: 100}
	now := &message.StepStats{Started: 101, OK: 102, Failed: 103, TimedOut: 104, Cancelled: 105, Dropped: 106, Skipped: 107, BytesIn: 108, BytesOut: 109}
	require.Equal(t, &Figures{Begun: 1, OK: 2, Failed: 3, TimedOut: 4, Cancelled: 5, Dropped: 6, Skipped: 7, BytesIn: 8, BytesOut: 9}, figuresOf(now, base))
}
