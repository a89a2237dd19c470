package measure

import (
	"time"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/core/stats"
)

// Paths measures the connections of QUIC that a step's requests opened, each when it closes.
type Paths struct {
	lost uint64
	rtt  stats.Histogram
}

// Paths returns what measures the connections of QUIC that the account's requests open.
func (a *Account) Paths() *Paths {
	if a.paths == nil {
		a.paths = new(Paths)
	}
	return a.paths
}

// Closed counts a connection that lost so many packets, and whose round trip took so long.
func (p *Paths) Closed(lost uint64, rtt time.Duration) {
	p.lost += lost
	p.rtt.Record(uint64(max(0, rtt)))
}

// wire appends the measures that happened, by name.
func (p *Paths) wire(out message.Measures) message.Measures {
	if p == nil {
		return out
	}
	if p.lost > 0 {
		out.List = append(out.List, message.Measure{Name: plan.MeasurePacketsLost, Kind: message.MeasureCount, Count: p.lost})
	}
	if p.rtt.Count() > 0 {
		out.List = append(out.List, message.Measure{Name: plan.MeasureRTT, Kind: message.MeasureTimes, Times: p.rtt.Wire()})
	}
	return out
}
