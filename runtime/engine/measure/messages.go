package measure

import (
	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/core/stats"
)

// Messages measures the messages of a step's exchanges.
type Messages struct {
	sent     uint64
	received uint64
	first    stats.Histogram
	latency  stats.Histogram
	ping     stats.Histogram
}

// Messages returns what measures the account's exchanges.
func (a *Account) Messages() *Messages {
	if a.messages == nil {
		a.messages = new(Messages)
	}
	return a.messages
}

// Sent returns the count of messages that the kernel took whole.
func (m *Messages) Sent() *uint64 { return &m.sent }

// First counts the first message of an exchange, which came so long after its intended start.
func (m *Messages) First(after int64) { m.first.Record(uint64(max(0, after))) }

// Received counts a message, which came so long after those of its exchange went out.
func (m *Messages) Received(after int64) {
	m.received++
	m.latency.Record(uint64(max(0, after)))
}

// Answered counts a message whose latency has a name of its own.
func (m *Messages) Answered() { m.received++ }

// Pushed counts a message that answers none.
func (m *Messages) Pushed() { m.received++ }

// Ponged counts the answer to a ping.
func (m *Messages) Ponged(after int64) { m.ping.Record(uint64(max(0, after))) }

// wire appends the measures that happened, by name.
func (m *Messages) wire(out message.Measures) message.Measures {
	if m == nil {
		return out
	}
	times := func(name string, h *stats.Histogram) {
		if h.Count() > 0 {
			out.List = append(out.List, message.Measure{Name: name, Kind: message.MeasureTimes, Times: h.Wire()})
		}
	}
	count := func(name string, n uint64) {
		if n > 0 {
			out.List = append(out.List, message.Measure{Name: name, Kind: message.MeasureCount, Count: n})
		}
	}
	times(plan.MeasureFirstMessage, &m.first)
	times(plan.MeasureMessageLatency, &m.latency)
	count(plan.MeasureMessagesReceived, m.received)
	count(plan.MeasureMessagesSent, m.sent)
	times(plan.MeasurePingLatency, &m.ping)
	return out
}
