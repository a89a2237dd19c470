package report

import (
	"cmp"
	"fmt"
	"time"

	"hyperscale/core/message"
)

// SinksOf shows what gates report; nil: the job has no sinks.
func SinksOf(in []message.SinkReport) (all []Sink) {
	for i := range in {
		s := &in[i]
		all = append(all, Sink{
			Name: s.Name, Delivered: s.Delivered, Behind: s.Behind, BehindNS: int64(s.Since), Rejected: s.Rejected, RejectedRequests: s.RejectedRequests,
			Lost: s.Lost, LostRequests: s.LostRequests, PerhapsTwice: s.Twice, Done: s.Done, Failed: s.Failed, Error: s.Why,
		})
	}
	return all
}

// Whole says that the sink has each row, or will: none is lost or rejected.
func (s *Sink) Whole() bool { return s.Rejected == 0 && s.Lost == 0 && s.Failed == "" }

// Text is how far the sink is, in a line.
func (s *Sink) Text() string {
	text := fmt.Sprintf("sink %s: %d rows delivered", s.Name, s.Delivered)
	if s.Behind > 0 {
		text += fmt.Sprintf(", %d windows behind for %v", s.Behind, time.Duration(s.BehindNS).Round(time.Second))
	}
	if s.Rejected > 0 {
		text += fmt.Sprintf(", %d rejected (%d requests)", s.Rejected, s.RejectedRequests)
	}
	if s.Lost > 0 {
		text += fmt.Sprintf(", %d lost (%d requests)", s.Lost, s.LostRequests)
	}
	if s.PerhapsTwice > 0 {
		text += fmt.Sprintf(", %d perhaps twice", s.PerhapsTwice)
	}
	if s.Failed != "" {
		text += ", given up"
	}
	if why := cmp.Or(s.Failed, s.Error); why != "" {
		text += ": " + why
	}
	return text
}
