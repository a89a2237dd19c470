package view

import (
	"time"

	"hyperscale/runtime/outputs/carrier"
)

// Output is a sink of a gate's configuration: jobs name it. Rows are those of jobs that this gate owns or has owned since it
// started.
type Output struct {
	Name         string `json:"name"`
	Kind         string `json:"kind"`
	WindowNS     int64  `json:"window_ns"` // of its rows
	Default      bool   `json:"default"`   // jobs that name no sink have it
	Required     bool   `json:"required"`  // the gate is not ready while it takes no rows
	Delivered    uint64 `json:"delivered"`
	Rejected     uint64 `json:"rejected"` // rows that it never takes
	Lost         uint64 `json:"lost"`     // rows that the gate gave up
	LostRequests uint64 `json:"lost_requests"`
	PerhapsTwice uint64 `json:"perhaps_twice"`
	FailedTries  uint64 `json:"failed_tries"`
	Waiting      int    `json:"waiting"`         // batches that it does not have
	WaitingBytes int    `json:"waiting_bytes"`   // of those
	BehindNS     int64  `json:"behind_ns"`       // for how long the oldest of those has waited
	Error        string `json:"error,omitempty"` // the last failure; left out: it has taken a batch since
}

// OutputsOf shows the sinks of a gate.
func OutputsOf(all []carrier.Stats) []Output {
	out := []Output{}
	for i := range all {
		s := &all[i]
		out = append(out, Output{
			Name: s.Sink, Kind: s.Kind, WindowNS: int64(s.Window), Default: s.Default, Required: s.Required, Delivered: s.Total.Delivered, Rejected: s.Total.Rejected,
			Lost: s.Total.Lost, LostRequests: s.Total.LostRequests, PerhapsTwice: s.Total.PerhapsTwice, FailedTries: s.Tries,
			Waiting: s.Waiting, WaitingBytes: s.Bytes, BehindNS: int64(s.Behind / time.Nanosecond), Error: s.Why,
		})
	}
	return out
}
