package measure

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/core/stats"
)

// TestPathsAddUp: the packets of all connections add up, each connection has one round trip, and what did not happen is no
// measure.
func TestPathsAddUp(t *testing.T) {
	var a Account
	require.Empty(t, a.measures().List)
	a.Paths().Closed(0, 5*time.Millisecond)
	require.Equal(t, []string{plan.MeasureRTT}, names(a.measures()))
	a.Paths().Closed(3, 7*time.Millisecond)
	a.Paths().Closed(4, -1)
	got := a.measures()
	require.Equal(t, []string{plan.MeasurePacketsLost, plan.MeasureRTT}, names(got))
	require.EqualValues(t, 7, got.List[0].Count)
	var want stats.Histogram
	for _, d := range []time.Duration{5 * time.Millisecond, 7 * time.Millisecond, 0} {
		want.Record(uint64(d))
	}
	require.Equal(t, want.Wire(), got.List[1].Times)
}

func names(m message.Measures) (all []string) {
	for i := range m.List {
		all = append(all, m.List[i].Name)
	}
	return all
}
