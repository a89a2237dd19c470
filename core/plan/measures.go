package plan

import "hyperscale/core/message"

// The measures of protocols: what they count or time beside a request's latency. The list is
// closed, so that an observer can name each of them.
const (
	MeasureFirstEvent = "first_event" // of a stream of events: from the intended start to its first
	MeasureEventGap   = "event_gap"   // from one event to the next
	MeasureEvents     = "events"      // whole ones
)

// ProtocolSSE is a StepPlan's Protocol: server-sent events. HTTP has none.
const ProtocolSSE = "sse"

// MeasureText is a measure with the sentence that manuals show.
type MeasureText struct {
	Name     string
	Protocol string
	Kind     message.MeasureKind
	Text     string
}

// Measures lists the measures, by protocol.
func Measures() []MeasureText {
	return []MeasureText{
		{MeasureFirstEvent, ProtocolSSE, message.MeasureTimes, "from the intended start until the loop has read the first event"},
		{MeasureEventGap, ProtocolSSE, message.MeasureTimes, "from one event of a stream to its next"},
		{MeasureEvents, ProtocolSSE, message.MeasureCount, "events, each with its blank line"},
	}
}

// MeasureOf returns the measure with that name; its kind is message.MeasureNone if there is none.
func MeasureOf(name string) (m MeasureText) {
	for _, known := range Measures() {
		if known.Name == name {
			return known
		}
	}
	return m
}
