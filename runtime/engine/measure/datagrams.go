package measure

import (
	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/runtime/protocol/datagram"
)

// Datagrams returns what counts datagrams that answer none of the account's exchanges.
func (a *Account) Datagrams() *datagram.Counts {
	if a.packets == nil {
		a.packets = new(datagram.Counts)
	}
	return a.packets
}

// datagrams appends the measures that happened, by name.
func datagrams(c *datagram.Counts, out message.Measures) message.Measures {
	if c == nil {
		return out
	}
	for _, m := range []message.Measure{
		{Name: plan.MeasureDatagramsDropped, Count: c.Dropped}, {Name: plan.MeasureDatagramsLate, Count: c.Late}, {Name: plan.MeasureDatagramsLost, Count: c.Lost},
		{Name: plan.MeasureDatagramsRefused, Count: c.Refused}, {Name: plan.MeasureDatagramsStray, Count: c.Stray},
	} {
		if m.Kind = message.MeasureCount; m.Count > 0 {
			out.List = append(out.List, m)
		}
	}
	return out
}
