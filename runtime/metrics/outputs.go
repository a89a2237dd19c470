package metrics

import "hyperscale/runtime/outputs/carrier"

// outputRows are the metrics of a gate's sinks. A configuration has a few, so labels are bounded.
func outputRows() []row {
	labels := []string{"sink", "kind"}
	of := func(value func(s *carrier.Stats) float64) func(*snapshot, emit) {
		return func(s *snapshot, e emit) {
			for i := range s.outputs {
				e(value(&s.outputs[i]), s.outputs[i].Sink, s.outputs[i].Kind)
			}
		}
	}
	return []row{
		{name: "hyperscale_output_rows_total", help: "Rows of jobs that this gate is done with, by what became of them: delivered = the sink has them; rejected = it never takes them; lost = the gates gave them up, before a try or after it. The owner of a job counts its lost rows once its delivery has ended.",
			labels: append(labels, "outcome"), read: func(s *snapshot, e emit) {
				for i := range s.outputs {
					o := &s.outputs[i]
					e(float64(o.Total.Delivered), o.Sink, o.Kind, "delivered")
					e(float64(o.Total.Rejected), o.Sink, o.Kind, "rejected")
					e(float64(s.lost(o.Sink).rows), o.Sink, o.Kind, "lost")
				}
			}},
		{name: "hyperscale_output_lost_requests_total", help: "Requests that only lost rows count.", labels: labels,
			read: func(s *snapshot, e emit) {
				for i := range s.outputs {
					e(float64(s.lost(s.outputs[i].Sink).requests), s.outputs[i].Sink, s.outputs[i].Kind)
				}
			}},
		{name: "hyperscale_output_perhaps_twice_rows_total", help: "Rows that a sink which adds up perhaps has twice: their answer was lost, or another gate may have delivered them.", labels: labels,
			read: of(func(s *carrier.Stats) float64 { return float64(s.Total.PerhapsTwice) })},
		{name: "hyperscale_output_failed_tries_total", help: "Tries to deliver a batch that failed, and were or will be repeated.", labels: labels,
			read: of(func(s *carrier.Stats) float64 { return float64(s.Tries) })},
		{name: "hyperscale_output_behind_seconds", help: "For how long the oldest batch that a sink does not have has waited at this gate; 0: none waits.", gauge: true, labels: labels,
			read: of(func(s *carrier.Stats) float64 { return s.Behind.Seconds() })},
		{name: "hyperscale_output_waiting_batches", help: "Batches that a sink does not have yet, one of a job at most.", gauge: true, labels: labels,
			read: of(func(s *carrier.Stats) float64 { return float64(s.Waiting) })},
		{name: "hyperscale_output_waiting_bytes", help: "Bytes of those batches.", gauge: true, labels: labels,
			read: of(func(s *carrier.Stats) float64 { return float64(s.Bytes) })},
	}
}
