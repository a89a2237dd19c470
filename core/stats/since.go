package stats

import "hyperscale/core/message"

// Since returns what a histogram recorded after an earlier state of it. It returns false if
// before is no earlier state, because it holds more.
func Since(now, before message.Histogram) (message.Histogram, bool, error) {
	if before.Count == 0 {
		return now, true, nil
	}
	since, err := Subtract(now, before)
	if err != nil {
		return message.Histogram{}, false, err
	}
	if now.Count < before.Count || since.Count != now.Count-before.Count {
		return message.Histogram{}, false, nil
	}
	return since, true, nil
}

// Subtract is Histogram.Sub of histograms that stay messages: it touches only used buckets, and each of them once.
func Subtract(now, older message.Histogram) (message.Histogram, error) {
	out, is, was := message.Histogram{}, walkOf(now), walkOf(older)
	first, last := -1, -1 // buckets of the difference
	rest, err := older.Buckets, error(nil)
	for b, had := now.Buckets, uint64(0); len(b) > 0; {
		var n uint64
		if n, b, err = is.next(b); err != nil {
			return message.Histogram{}, unread(now, err)
		}
		for was.last < is.last && len(rest) > 0 {
			if had, rest, err = was.next(rest); err != nil {
				return message.Histogram{}, unread(older, err)
			}
		}
		if was.last == is.last {
			n -= min(n, had)
		}
		if n == 0 {
			continue
		}
		if out.Buckets == nil {
			out.Buckets, first = make([]byte, 0, len(now.Buckets)), is.last
		}
		out.Buckets = appendPair(out.Buckets, is.last-last, n)
		out.Count, last = out.Count+n, is.last
	}
	for len(rest) > 0 {
		if _, rest, err = was.next(rest); err != nil {
			return message.Histogram{}, unread(older, err)
		}
	}
	if err := is.judge(now); err != nil {
		return message.Histogram{}, unread(now, err)
	}
	if err := was.judge(older); err != nil {
		return message.Histogram{}, unread(older, err)
	}
	if out.Count == 0 {
		return out, nil
	}
	since := Histogram{count: out.Count}
	since.bound(first, last, now.Sum, older.Sum, now.Min, now.Max)
	out.Sum, out.Min, out.Max = since.sum, since.min, since.max
	return out, nil
}
