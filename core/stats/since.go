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
	d := difference{is: walkOf(now), was: walkOf(older), first: -1, last: -1}
	rest, err := older.Buckets, error(nil)
	for b, had := now.Buckets, uint64(0); len(b) > 0; {
		if d.is.last == d.was.last {
			if d.pairs == nil {
				d.pairs = make([]byte, 0, len(now.Buckets))
			}
			if b, rest = d.together(b, rest); len(b) == 0 {
				break
			}
		}
		var n uint64
		if n, b, err = d.is.next(b); err != nil {
			return message.Histogram{}, unread(now, err)
		}
		for d.was.last < d.is.last && len(rest) > 0 {
			if had, rest, err = d.was.next(rest); err != nil {
				return message.Histogram{}, unread(older, err)
			}
		}
		if d.was.last == d.is.last {
			n -= min(n, had)
		}
		d.add(n)
	}
	for len(rest) > 0 {
		if _, rest, err = d.was.next(rest); err != nil {
			return message.Histogram{}, unread(older, err)
		}
	}
	if err := d.is.judge(now); err != nil {
		return message.Histogram{}, unread(now, err)
	}
	if err := d.was.judge(older); err != nil {
		return message.Histogram{}, unread(older, err)
	}
	if d.count == 0 {
		return message.Histogram{}, nil
	}
	since := Histogram{count: d.count}
	since.bound(d.first, d.last, now.Sum, older.Sum, now.Min, now.Max)
	return message.Histogram{Count: d.count, Sum: since.sum, Min: since.min, Max: since.max, Buckets: d.pairs}, nil
}

// difference is what is known of now minus older, up to where both are read.
type difference struct {
	is, was     walk // through now and through older
	pairs       []byte
	count       uint64
	first, last int // buckets of the difference; -1: there is none yet
}

// add adds what is left of the bucket that now is read up to.
func (d *difference) add(n uint64) {
	if n == 0 {
		return
	}
	if d.first < 0 {
		d.first = d.is.last
	}
	d.pairs = appendPair(d.pairs, d.is.last-d.last, n)
	d.count, d.last = d.count+n, d.is.last
}

// together reads both as long as their next buckets are the same and no number of them is large: nearly all of two
// reports of one step are. It leaves all else, and all that is out of bounds, to a walk.
func (d *difference) together(b, rest []byte) (behind, behindOlder []byte) {
	if d.is.first < 0 {
		return b, rest
	}
	at, left, had, last, pairs := d.is.last, d.is.left, d.was.left, d.last, d.pairs
	for len(b) >= 3 && len(rest) >= 3 {
		gap := b[0]
		if gap != rest[0] || gap-1 >= 0x7f || int(gap) > buckets-1-at {
			break
		}
		n, size, ok := shortCount(b)
		older, olderSize, also := shortCount(rest)
		if !ok || !also || n-1 >= left || older-1 >= had {
			break
		}
		at, left, had, b, rest = at+int(gap), left-n, had-older, b[size:], rest[olderSize:]
		if n <= older {
			continue
		}
		n -= older
		if d.first < 0 {
			d.first = at
		}
		d.count += n
		if step := at - last; uint64(step)|n < 0x80 {
			pairs = append(pairs, byte(step), byte(n))
		} else {
			pairs = appendPair(pairs, step, n)
		}
		last = at
	}
	d.is.last, d.is.left, d.was.last, d.was.left, d.last, d.pairs = at, left, at, had, last, pairs
	return b, rest
}

// shortCount reads the count of a pair of three bytes or less whose distance has one.
func shortCount(b []byte) (n uint64, size int, ok bool) {
	if b[1] < 0x80 {
		return uint64(b[1]), 2, true
	}
	return uint64(b[1]&0x7f) | uint64(b[2])<<7, 3, b[2] < 0x80
}
