package stats

import (
	"fmt"

	"hyperscale/core/message"
)

// dense sums series in time. The first ones it merges as messages, pair by pair. From fewParts on
// it has all windows before it, and each further series costs a step for each of its buckets.
type dense struct {
	few     message.Windows // the sum, as long as there are few
	parts   int
	many    *Windows // the sum, else
	coarser uint8    // the buckets of the coarsest series
	dropped bool     // one of them lacks data, and so does the sum
}

// merge adds a series, or refuses it as mergeWindows does.
func (d *dense) merge(in message.Windows) error {
	if d.parts++; d.parts < fewParts {
		sum, err := mergeWindows(d.few, in)
		d.few = sum
		return err
	}
	if d.many == nil {
		d.many = new(Windows)
		if err := d.pour(d.few); err != nil {
			return err
		}
		d.few = message.Windows{}
	}
	return d.pour(in)
}

// pour adds a series to the windows, and checks it on the way. After an error the sum is of no use.
func (d *dense) pour(in message.Windows) error {
	if d.dropped = d.dropped || in.Dropped; d.dropped {
		_, err := checkWindows(in)
		return err
	}
	is, at, err := shapeOf(in)
	if err != nil || in.Width == 0 {
		return err
	}
	d.coarser = max(d.coarser, is.coarser)
	for d.many.doublings < is.doublings {
		d.many.double()
	}
	most := lastWindow(in.Width)
	for index := -1; at < len(in.Data); {
		if index, at, err = nextWindow(in.Data, at, index, most); err != nil {
			return err
		}
		if at, err = d.many.pour(index>>(d.many.doublings-is.doublings), is.coarser, in.Data, at); err != nil {
			return fmt.Errorf("window %d: %w", index, err)
		}
	}
	return nil
}

// pour adds the window whose counts begin at an index of data, and returns where it ends.
func (w *Windows) pour(index int, coarser uint8, b []byte, at int) (end int, err error) {
	buckets := LatencyBuckets >> coarser
	var counts Counts
	used, at, err := readCounts(b, at, buckets, &counts)
	if err != nil {
		return 0, err
	}
	to := w.slot(index)
	to.add(&counts)
	var of *page
	octave := -1 // whose page that is
	for last := -1; used > 0; used-- {
		var n uint64
		if at+1 < len(b) && b[at]|b[at+1] < 0x80 && b[at] > 0 && b[at+1] > 0 && int(b[at]) < buckets-last { // most are small
			last, n, at = last+int(b[at]), uint64(b[at+1]), at+2
		} else if last, n, at, err = nextBucket(b, at, last, buckets); err != nil {
			return 0, err
		}
		i := (last+1)<<coarser - 1
		if i>>fineBits != octave {
			octave = i >> fineBits
			of = w.open(&to.octaves[octave&(windowOctaves-1)])
		}
		sum := &of[i&(FineMost-1)]
		*sum = add(*sum, n)
	}
	return at, nil
}

// open returns the page of an octave, which it gets with its first latency.
func (w *Windows) open(id *pageID) *page {
	if *id == 0 {
		*id = w.take()
	}
	return w.page(*id)
}

// sum returns the sum so far.
func (d *dense) sum() message.Windows {
	switch {
	case d.many == nil:
		return d.few
	case d.dropped:
		return message.Windows{Dropped: true}
	}
	return reshaped(d.many.Wire(), func(s *shape) { s.coarser = d.coarser })
}
