package stats

import "hyperscale/core/message"

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

// pour adds a series to the windows.
func (d *dense) pour(in message.Windows) error {
	is, err := checkWindows(in)
	switch {
	case err != nil:
		return err
	case in.Dropped:
		d.dropped = true
	}
	if d.dropped || in.Width == 0 {
		return nil
	}
	d.coarser = max(d.coarser, is.coarser)
	for d.many.doublings < is.doublings {
		d.many.double()
	}
	for r := newReader(in.Data, is, shape{d.many.doublings, is.coarser}); r.more(); {
		d.many.pour(r)
	}
	return nil
}

// pour adds the window with which the rest of a reader begins.
func (w *Windows) pour(r *reader) {
	to := w.slot(r.raw >> r.shift)
	to.add(&Counts{r.take(), r.take(), r.take(), r.take(), r.take()})
	at := -1
	for left := r.take(); left > 0; left-- {
		at += int(r.take())
		i := (at+1)<<r.coarser - 1
		id := to.octaves[i>>fineBits]
		if id == 0 {
			id = w.take()
			to.octaves[i>>fineBits] = id
		}
		n := &w.page(id)[i&(FineMost-1)]
		*n = add(*n, r.take())
	}
	if r.more() {
		r.raw += int(r.take())
	}
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
