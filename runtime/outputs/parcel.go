package outputs

import (
	"context"
	"time"
)

// Parcel is rows that reach a sink, and count, apart from all others: those of one job, where jobs share the sink.
type Parcel struct {
	Rows  []Row
	Since time.Time        // when it was taken: it waits Pace.Denied for credentials, at least
	Again bool             // an earlier owner of the job may have delivered the same rows
	News  func(why string) // hears of each try that failed; nil: nothing does
}

// Carry delivers a parcel. It cuts batches by the parcel's rows and the limits of the kind alone, so that each owner of a
// job cuts the same ones. It returns once each row is delivered, rejected or lost, or the context ends: then Behind counts
// the others. At most Limits.Parallel calls run at once. A shell that carries parcels takes no rows by Offer.
func (h *Shell) Carry(ctx context.Context, p *Parcel) Report {
	told := Report{Name: h.report.Name, Kind: h.report.Kind, Rows: uint64(len(p.Rows))}
	for i := range p.Rows {
		tag(&p.Rows[i], h.tags)
	}
	c := &course{ctx: ctx, report: &told, since: p.Since, news: p.News}
	if p.Again && h.exact == AtMostOnce {
		h.lost(p.Rows, c, "another gate may have sent these rows, and this kind repeats none")
	} else {
		h.carry(p, c)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if p.Again && h.exact == AtLeastOnce {
		told.PerhapsTwice = told.Rows
	}
	told.PerhapsTwice = min(told.PerhapsTwice, told.Rows)
	told.Behind = told.Rows - told.Delivered - told.Rejected - told.Lost
	if err := h.dead.fault(); err != nil && told.Rejected > 0 {
		told.Letters = err.Error()
	}
	over := told
	over.Rows, over.Behind = told.Rows-told.Behind, 0 // another parcel has the others
	h.report.add(&over)
	return told
}

// carry delivers a parcel batch by batch, in the order of its rows.
func (h *Shell) carry(p *Parcel, c *course) {
	for rows := p.Rows; len(rows) > 0 && c.ctx.Err() == nil; {
		n, _ := fit(rows, h.limits)
		h.mu.Lock()
		h.next++
		b := Batch{Number: h.next, Rows: rows[:n], Again: p.Again}
		h.mu.Unlock()
		h.deliver(b, c)
		rows = rows[n:]
	}
}

// Parallel is how many parcels the sink takes at once.
func (h *Shell) Parallel() int { return h.limits.Parallel }
