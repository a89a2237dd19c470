package report

import (
	"cmp"

	"hyperscale/core/message"
)

// SinksOf shows what gates report; nil: the job has no sinks.
func SinksOf(in []message.SinkReport) (all []Sink) {
	for i := range in {
		s := &in[i]
		all = append(all, Sink{
			Name: s.Name, Kind: s.Kind, Delivered: s.Delivered, ThroughNS: int64(s.Through), Behind: s.Behind, BehindNS: int64(s.Since), Rejected: s.Rejected,
			RejectedRequests: s.RejectedRequests, Lost: s.Lost, LostRequests: s.LostRequests, PerhapsTwice: s.Twice, Done: s.Done, Failed: s.Failed, Error: s.Why,
		})
	}
	return all
}

// Whole says that the sink has each row, or will: none is lost or rejected.
func (s *Sink) Whole() bool { return s.Rejected == 0 && s.Lost == 0 && s.Failed == "" }

// The states of a sink, as every screen, page and line calls them.
const (
	SinkGivenUp  = "given up"
	SinkLacks    = "lacks rows"
	SinkBehind   = "behind"
	SinkComplete = "complete"
	SinkOnTime   = "on time"
)

// State is the sink's state in a word, and whether that is good, warn or bad.
func (s *Sink) State() (word, health string) {
	switch {
	case s.Failed != "":
		return SinkGivenUp, "bad"
	case !s.Whole():
		return SinkLacks, "bad"
	case s.Behind > 0 && s.BehindNS >= int64(LateAfter):
		return SinkBehind, "warn"
	case s.Done:
		return SinkComplete, "good"
	}
	return SinkOnTime, "good"
}

// Why is the sink's reason, if there is one.
func (s *Sink) Why() string { return cmp.Or(s.Failed, s.Error) }
