package job

import (
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/message/record"
	"hyperscale/core/node"
	"hyperscale/core/output"
)

// Rows are a job's rows on their way to the sinks that it names.
type Rows struct {
	Streams    []*output.Stream  // by the name of the sink
	Deliveries []node.DeliveryID // of each stream, what its host tries; 0: nothing

	// Delivering says that the job has ended, and that its owner keeps its register until each stream has.
	Delivering bool
	Until      node.Instant // while Delivering: then the owner gives the rest up

	sent    uint64 // when the client submitted the job, in ms since 1970
	unknown record.Unknown
}

// RowsOf are those of a submission: it names the sinks.
func RowsOf(id message.JobID, s *message.JobSubmit, sinks []output.Sink) (r Rows) {
	for _, sink := range sinks {
		r.Streams = append(r.Streams, output.NewStream(id, s.Name, sink, s.Sent))
	}
	if r.sent = s.Sent; len(r.Streams) == 0 {
		r.sent = 0
	}
	r.Deliveries = make([]node.DeliveryID, len(r.Streams))
	return r
}

// Own says which owner makes the rows from now on, by the epoch of its fence.
func (r *Rows) Own(epoch uint64) {
	for _, s := range r.Streams {
		s.Own(epoch)
	}
}

// Open says that a stream has not ended, as far as a majority knows.
func (r *Rows) Open() bool {
	return slices.ContainsFunc(r.Streams, func(s *output.Stream) bool { return !s.Over() })
}

// Due says that a status of a job of that age makes rows.
func (r *Rows) Due(elapsed time.Duration) bool {
	return slices.ContainsFunc(r.Streams, func(s *output.Stream) bool { return s.Due(elapsed) })
}

// Reports say how far each sink is, of a job of that age, and its kind in this gate's configuration.
func (r *Rows) Reports(elapsed time.Duration, configured []output.Sink) (all message.SinkReports) {
	for _, s := range r.Streams {
		report := s.Report(elapsed)
		if at := slices.IndexFunc(configured, func(o output.Sink) bool { return o.Name == s.Sink }); at >= 0 {
			report.Kind = configured[at].Kind
		}
		all.List = append(all.List, report)
	}
	return all
}

// Files lists the files that the record names, or is about to.
func (r *Rows) Files() (all []message.FileDigest) {
	for _, s := range r.Streams {
		all = append(all, s.Files()...)
	}
	return all
}

func (r *Rows) record() record.Outputs {
	out := record.Outputs{Sent: r.sent, Unknown: r.unknown}
	for _, s := range r.Streams {
		out.Sinks = append(out.Sinks, s.Record())
	}
	return out
}

// named are the files that the record names: versions that know no streams keep them.
func named(o *record.Outputs) (all []message.FileDigest) {
	for i := range o.Sinks {
		if d := o.Sinks[i].File; d != (message.FileDigest{}) && !o.Sinks[i].Done {
			all = append(all, d)
		}
	}
	return all
}

// rowsOf are those of a record, and the other files that it keeps.
func rowsOf(id message.JobID, rec *Record) (r Rows, others []message.FileDigest) {
	o := &rec.Behind.Outputs
	r = Rows{sent: o.Sent, unknown: o.Unknown, Deliveries: make([]node.DeliveryID, len(o.Sinks))}
	for i := range o.Sinks {
		r.Streams = append(r.Streams, output.FromRecord(id, rec.Name, o.Sinks[i], o.Sent))
	}
	mine := named(o)
	for _, d := range rec.Job.Files {
		if !slices.Contains(mine, d) {
			others = append(others, d)
		}
	}
	return r, others
}
