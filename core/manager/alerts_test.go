package manager

import (
	"testing"

	"hyperscale/core/alert"
	"hyperscale/core/event"
)

// Shares of the workers count from three on; of none that is known nothing is read.
func TestReadingsOfWorkers(t *testing.T) {
	for _, c := range []struct {
		healthy, unhealthy, overloaded uint32
		want                           [3]alert.Reading
	}{
		{0, 0, 0, [3]alert.Reading{alert.Unknown, alert.Unknown, alert.Unknown}},
		{1, 0, 0, [3]alert.Reading{alert.Calm, alert.Calm, alert.Calm}},
		{1, 1, 1, [3]alert.Reading{alert.Met, alert.Calm, alert.Calm}},
		{0, 2, 0, [3]alert.Reading{alert.Unknown, alert.Unknown, alert.Met}},
		{0, 3, 0, [3]alert.Reading{alert.Unknown, alert.Met, alert.Met}},
		{1, 4, 0, [3]alert.Reading{alert.Calm, alert.Met, alert.Calm}},
		{2, 3, 0, [3]alert.Reading{alert.Calm, alert.Between, alert.Calm}},
		{3, 2, 1, [3]alert.Reading{alert.Calm, alert.Calm, alert.Calm}},
		{10, 0, 5, [3]alert.Reading{alert.Met, alert.Calm, alert.Calm}},
		{10, 0, 4, [3]alert.Reading{alert.Between, alert.Calm, alert.Calm}},
	} {
		overloaded, unhealthy, none := readingsOf(event.FleetCounted{Healthy: c.healthy, Unhealthy: c.unhealthy, Overloaded: c.overloaded})
		if got := [3]alert.Reading{overloaded, unhealthy, none}; got != c.want {
			t.Errorf("%d healthy, %d unhealthy, %d overloaded: %v, want %v", c.healthy, c.unhealthy, c.overloaded, got, c.want)
		}
	}
}
