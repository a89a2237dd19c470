package report

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hyperscale/core/message"
)

// TestSinksKeepTheirFigures: each figure of a gate's report has its own name in the file.
func TestSinksKeepTheirFigures(t *testing.T) {
	in := []message.SinkReport{{
		Name: "warehouse", Kind: "postgres", Through: 10, Delivered: 1, Behind: 2, Since: 3 * time.Second, Rejected: 4, RejectedRequests: 5, Lost: 6, LostRequests: 7, Twice: 8,
		Done: true, Failed: "password rejected", Why: "connection refused",
	}, {Name: "rows", Delivered: 9, Why: "busy"}, {Name: "lake", Delivered: 9, Done: true}}
	all := SinksOf(in)
	require.Equal(t, Sink{
		Name: "warehouse", Kind: "postgres", ThroughNS: 10, Delivered: 1, Behind: 2, BehindNS: 3_000_000_000, Rejected: 4, RejectedRequests: 5, Lost: 6, LostRequests: 7, PerhapsTwice: 8,
		Done: true, Failed: "password rejected", Error: "connection refused",
	}, all[0])
	require.Nil(t, SinksOf(nil))
	for _, c := range []struct {
		s     Sink
		whole bool
	}{{Sink{Behind: 9, PerhapsTwice: 9}, true}, {Sink{Rejected: 1}, false}, {Sink{Lost: 1}, false}, {Sink{Failed: "x"}, false}} {
		require.Equal(t, c.whole, c.s.Whole(), "%+v", c.s)
	}
}

// TestStatesOfSinks: one word for each, the worst that holds.
func TestStatesOfSinks(t *testing.T) {
	const late = int64(LateAfter)
	for _, c := range []struct {
		s            Sink
		word, health string
	}{
		{Sink{}, "on time", "good"},
		{Sink{Done: true}, "complete", "good"},
		{Sink{Behind: 1, BehindNS: late - 1}, "on time", "good"},
		{Sink{Behind: 1, BehindNS: late}, "behind", "warn"},
		{Sink{Behind: 1, BehindNS: late, Rejected: 1}, "lacks rows", "bad"},
		{Sink{Done: true, Lost: 1}, "lacks rows", "bad"},
		{Sink{Lost: 1, Failed: "x"}, "given up", "bad"},
	} {
		word, health := c.s.State()
		require.Equal(t, []string{c.word, c.health}, []string{word, health}, "%+v", c.s)
	}
}

// TestLateness: of statuses in turn, a time begins where the sink's rows end, goes on while it is behind, and ends with the
// last status that says so. Another lag is another time. The newest remain.
func TestLateness(t *testing.T) {
	var l Lateness
	see := func(elapsed, through, late time.Duration) {
		r := message.SinkReport{Name: "house", Through: through * time.Second, Since: late * time.Second}
		if late > 0 {
			r.Behind = 1
		}
		l.See(&message.JobStatus{Elapsed: elapsed * time.Second, Sinks: message.SinkReports{List: []message.SinkReport{r, {Name: "hook"}}}})
	}
	see(10, 9, 0)
	see(39, 9, 29)
	require.Empty(t, l.Of("house"))
	see(40, 9, 30)
	see(55, 9, 45)
	see(50, 9, 40) // an older status
	see(60, 59, 1)
	see(100, 60, 39)
	require.Equal(t, []Late{{9e9, 55e9}, {60e9, 100e9}}, l.Of("house"))
	require.Equal(t, []Late{{9e9, 55e9}, {60e9, 100e9}}, l.Sinks([]message.SinkReport{{Name: "house"}})[0].Late)
	require.Empty(t, l.Of("hook"))
	require.Empty(t, l.Of("other"))
	for i := range time.Duration(40) {
		see(200+100*i, 150+100*i, 49)
		see(201+100*i, 200+100*i, 0)
	}
	require.Len(t, l.Of("house"), lateMost)
	require.Equal(t, int64(4100e9), l.Of("house")[lateMost-1].UntilNS)
}
