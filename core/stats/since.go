package stats

import "hyperscale/core/message"

// Since returns what a histogram recorded after an earlier state of it. It returns false if
// before is no earlier state, because it holds more.
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
