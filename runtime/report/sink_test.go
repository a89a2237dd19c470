package report

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hyperscale/core/message"
)

// TestSinksKeepTheirFigures: each figure of a gate's report has its own name in the file, and its own word in the line.
func TestSinksKeepTheirFigures(t *testing.T) {
	in := []message.SinkReport{{
		Name: "warehouse", Delivered: 1, Behind: 2, Since: 3 * time.Second, Rejected: 4, RejectedRequests: 5, Lost: 6, LostRequests: 7, Twice: 8,
		Done: true, Failed: "password rejected", Why: "connection refused",
	}, {Name: "rows", Delivered: 9, Why: "busy"}, {Name: "lake", Delivered: 9, Done: true}}
	all := SinksOf(in)
	require.Equal(t, Sink{
		Name: "warehouse", Delivered: 1, Behind: 2, BehindNS: 3_000_000_000, Rejected: 4, RejectedRequests: 5, Lost: 6, LostRequests: 7, PerhapsTwice: 8,
		Done: true, Failed: "password rejected", Error: "connection refused",
	}, all[0])
	require.Equal(t, "sink warehouse: 1 rows delivered, 2 windows behind for 3s, 4 rejected (5 requests), 6 lost (7 requests), 8 perhaps twice, given up: password rejected", all[0].Text())
	require.Equal(t, "sink rows: 9 rows delivered: busy", all[1].Text())
	require.Equal(t, "sink lake: 9 rows delivered", all[2].Text())
	require.Nil(t, SinksOf(nil))
	for _, c := range []struct {
		s     Sink
		whole bool
	}{{Sink{Behind: 9, PerhapsTwice: 9}, true}, {Sink{Rejected: 1}, false}, {Sink{Lost: 1}, false}, {Sink{Failed: "x"}, false}} {
		require.Equal(t, c.whole, c.s.Whole(), "%+v", c.s)
	}
}
