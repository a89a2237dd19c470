package outputs

import (
	"cmp"

	"hyperscale/core/output"
)

// Report says what a sink has of the rows that it was offered. Rows = Delivered + Rejected + Lost + Merged + Behind.
type Report struct {
	Name             string // of the sink
	Kind             string
	Rows             uint64 // offered
	Delivered        uint64
	Behind           uint64 // not delivered yet; at the end of the command they never are
	Rejected         uint64 // the place will never take them
	RejectedRequests uint64
	Lost             uint64 // no room, or the sink has failed
	LostRequests     uint64 // of the whole job's lost windows, those of measured steps
	Merged           uint64 // windows that became part of a wider one, as the queue was full
	PerhapsTwice     uint64 // sent again after a try without an answer, to a place that adds up
	Tries            uint64 // that failed
	Why              string // the last failure
	Failed           string // why the sink was given up; empty: it was not
	RejectedWhy      string // the first reason
	Letters          string // why rejected rows are not in a file
}

// Whole says that the place has each row.
func (r *Report) Whole() bool { return r.Behind == 0 && r.Rejected == 0 && r.Lost == 0 }

func (r *Report) lose(row *Row) {
	r.Lost++
	r.LostRequests += output.Requests(row)
}

func (r *Report) reject(row *Row, why string) {
	r.Rejected++
	r.RejectedRequests += output.Requests(row)
	r.RejectedWhy = cmp.Or(r.RejectedWhy, why)
}

// add counts another report's rows, too.
func (r *Report) add(o *Report) {
	r.Rows, r.Delivered, r.PerhapsTwice, r.Tries = r.Rows+o.Rows, r.Delivered+o.Delivered, r.PerhapsTwice+o.PerhapsTwice, r.Tries+o.Tries
	r.Rejected, r.RejectedRequests, r.Lost, r.LostRequests = r.Rejected+o.Rejected, r.RejectedRequests+o.RejectedRequests, r.Lost+o.Lost, r.LostRequests+o.LostRequests
	r.Why, r.RejectedWhy = cmp.Or(o.Why, r.Why), cmp.Or(r.RejectedWhy, o.RejectedWhy)
}

// Because is why a place lacks rows, and why rejected ones are not in a file; empty: no try failed.
func (r *Report) Because() string {
	why := cmp.Or(r.Failed, r.RejectedWhy, r.Why)
	if why != "" && r.Letters != "" {
		why += "; "
	}
	return why + r.Letters
}
