package measure

import (
	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/core/stats"
)

// Transfers measures the files of a step.
type Transfers struct {
	bytes uint64
	took  stats.Histogram
	auth  stats.Histogram
	data  stats.Histogram
	first stats.Histogram
}

// Transfers returns what measures the account's files.
func (a *Account) Transfers() *Transfers {
	if a.transfers == nil {
		a.transfers = new(Transfers)
	}
	return a.transfers
}

// Moved counts a file of so many bytes, whose transfer took so long.
func (t *Transfers) Moved(bytes, took int64) {
	t.bytes += uint64(bytes)
	t.took.Record(uint64(max(0, took)))
}

// Authenticated counts a connection whose user was authenticated so long after it stood.
func (t *Transfers) Authenticated(after int64) { t.auth.Record(uint64(max(0, after))) }

// Connected counts a data connection that stands so long after it was dialled.
func (t *Transfers) Connected(after int64) { t.data.Record(uint64(max(0, after))) }

// First counts a first byte that came so long after it was asked for.
func (t *Transfers) First(after int64) { t.first.Record(uint64(max(0, after))) }

// wire appends the measures that happened.
func (t *Transfers) wire(out message.Measures) message.Measures {
	if t == nil {
		return out
	}
	times := func(name string, h *stats.Histogram) {
		if h.Count() > 0 {
			out.List = append(out.List, message.Measure{Name: name, Kind: message.MeasureTimes, Times: h.Wire()})
		}
	}
	times(plan.MeasureAuthTime, &t.auth)
	times(plan.MeasureDataConnect, &t.data)
	times(plan.MeasureFirstByte, &t.first)
	if t.bytes > 0 {
		out.List = append(out.List, message.Measure{Name: plan.MeasureTransferred, Kind: message.MeasureCount, Count: t.bytes})
	}
	times(plan.MeasureTransferTime, &t.took)
	return out
}
