package stats

import "hyperscale/core/message"

// Since is what a histogram recorded after an earlier state of it. An earlier one that
// is none, as it holds more, says false.
func Since(now, before message.Histogram) (message.Histogram, bool, error) {
	if before.Count == 0 {
		return now, true, nil
	}
	n, err := FromWire(now)
	if err != nil {
		return message.Histogram{}, false, err
	}
	b, err := FromWire(before)
	if err != nil {
		return message.Histogram{}, false, err
	}
	since := n.Sub(b)
	if now.Count < before.Count || since.Count() != now.Count-before.Count {
		return message.Histogram{}, false, nil
	}
	return since.Wire(), true, nil
}
