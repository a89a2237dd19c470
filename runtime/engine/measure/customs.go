package measure

import (
	"slices"

	"hyperscale/core/message"
	"hyperscale/core/plan"
)

// customsMost bounds the measures of custom programs in one account. What further ones add is counted
// together, as "other".
const customsMost = 12

// Customs counts what custom programs measure, by the names that they chose.
type Customs struct {
	names []string
	sums  []uint64
	other uint64
}

// Customs returns what counts the measures of custom programs.
func (a *Account) Customs() *Customs {
	if a.customs == nil {
		a.customs = new(Customs)
	}
	return a.customs
}

// Add adds to a measure.
func (c *Customs) Add(name string, n uint64) {
	at := slices.Index(c.names, name)
	switch {
	case at >= 0:
		c.sums[at] += n
	case len(c.names) < customsMost:
		c.names, c.sums = append(c.names, name), append(c.sums, n)
	default:
		c.other += n
	}
}

// wire appends the measures that happened.
func (c *Customs) wire(out message.Measures) message.Measures {
	if c == nil {
		return out
	}
	add := func(name string, n uint64) {
		if n > 0 {
			out.List = append(out.List, message.Measure{Name: plan.MeasureCustom + name, Kind: message.MeasureCount, Count: n})
		}
	}
	for i, name := range c.names {
		if name != "other" {
			add(name, c.sums[i])
		}
	}
	all := c.other
	if at := slices.Index(c.names, "other"); at >= 0 {
		all += c.sums[at]
	}
	add("other", all)
	return out
}
