package measure

import (
	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/core/stats"
)

// Events measures the events of a step's streams.
type Events struct {
	count uint64
	first stats.Histogram
	gap   stats.Histogram
}

// Events returns what measures the account's streams.
func (a *Account) Events() *Events {
	if a.events == nil {
		a.events = new(Events)
	}
	return a.events
}

// First counts the first event of a stream, which came so long after its intended start.
func (e *Events) First(after int64) {
	e.count++
	e.first.Record(uint64(max(0, after)))
}

// Next counts a further event, which came so long after the one before.
func (e *Events) Next(after int64) {
	e.count++
	e.gap.Record(uint64(max(0, after)))
}

// wire returns the measures that happened, by name.
func (e *Events) wire() (out message.Measures) {
	if e == nil {
		return out
	}
	if e.gap.Count() > 0 {
		out.List = append(out.List, message.Measure{Name: plan.MeasureEventGap, Kind: message.MeasureTimes, Times: e.gap.Wire()})
	}
	if e.count > 0 {
		out.List = append(out.List, message.Measure{Name: plan.MeasureEvents, Kind: message.MeasureCount, Count: e.count})
	}
	if e.first.Count() > 0 {
		out.List = append(out.List, message.Measure{Name: plan.MeasureFirstEvent, Kind: message.MeasureTimes, Times: e.first.Wire()})
	}
	return out
}
