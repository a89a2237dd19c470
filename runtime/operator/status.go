package operator

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"hyperscale/runtime/report"
	"hyperscale/runtime/ui"
)

// The phases that are no state of a job, and those that two places name.
const (
	phasePending   = "Pending"
	phaseRejected  = "Rejected"
	phaseQueued    = "Queued"
	phaseCancelled = "Cancelled"
	phaseLost      = "Lost"
)

// textMax bounds a reason or a message, in bytes, as the schema does in characters.
const textMax = 2048

// status is what the operator knows of an object's job.
type status struct {
	Observed   int64       `json:"observedGeneration,omitempty"`
	Job        string      `json:"job,omitempty"`
	Phase      string      `json:"phase,omitempty"`
	Reason     string      `json:"reason,omitempty"`
	Progress   progress    `json:"progress,omitzero"`
	ResultURL  string      `json:"resultURL,omitempty"`
	Conditions []condition `json:"conditions,omitempty"`
}

// progress counts the requests of a job.
type progress struct {
	Requests uint64 `json:"requests"`
	Failed   uint64 `json:"failed"` // timed out ones included
}

// condition is one of Accepted, Delivered, Finished and ThresholdsMet.
type condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"` // True, False or Unknown
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Since   string `json:"lastTransitionTime"` // RFC 3339, in whole seconds
	Number  int64  `json:"observedGeneration,omitempty"`
}

// of returns a condition, or nil.
func (s *status) of(kind string) *condition {
	at := slices.IndexFunc(s.Conditions, func(c condition) bool { return c.Type == kind })
	if at < 0 {
		return nil
	}
	return &s.Conditions[at]
}

// ended says that nothing changes any more.
func (s *status) ended() bool {
	c := s.of("Finished")
	return c != nil && c.Status == "True"
}

// delivering says that rows of a job are on their way to sinks.
func (s *status) delivering() bool {
	c := s.of("Delivered")
	return c != nil && c.Reason == reasonDelivering
}

// reasonDelivering is that of Delivered while a gate goes on.
const reasonDelivering = "Delivering"

// sinks says what the sinks of a job that has ended have of its rows. Its text changes only with a sink that has ended.
func (s *status) sinks(all []report.Sink) {
	whole := true
	var open, told []string
	for i := range all {
		if !all[i].Done {
			open = append(open, all[i].Name)
			continue
		}
		whole = whole && all[i].Whole()
		told = append(told, ui.SinkText(&all[i]))
	}
	c := condition{Type: "Delivered", Status: "True", Reason: "Delivered", Message: strings.Join(told, "; ")}
	switch {
	case len(open) > 0:
		c.Status, c.Reason = "Unknown", reasonDelivering
		c.Message = strings.Join(append(told, "rows are on their way to "+strings.Join(open, ", ")), "; ")
	case !whole:
		c.Status, c.Reason = "False", "RowsMissing"
	}
	s.set(c)
}

// finishedAt is when the end was written.
func (s *status) finishedAt() (time.Time, bool) {
	if !s.ended() {
		return time.Time{}, false
	}
	at, err := time.Parse(time.RFC3339, s.of("Finished").Since)
	return at, err == nil
}

// set puts a condition. Its time stays while its status does: two replicas write the same.
func (s *status) set(c condition) {
	c.Since, c.Number, c.Message = time.Now().UTC().Format(time.RFC3339), s.Observed, cut(c.Message)
	had := s.of(c.Type)
	if had == nil {
		s.Conditions = append(s.Conditions, c)
		slices.SortFunc(s.Conditions, func(a, b condition) int { return strings.Compare(a.Type, b.Type) })
		return
	}
	if had.Status == c.Status && had.Since != "" {
		c.Since = had.Since
	}
	*had = c
}

// moved says that a status differs from another one in more than its progress.
func (s *status) moved(from *status) bool {
	return s.Observed != from.Observed || s.Job != from.Job || s.Phase != from.Phase || s.Reason != from.Reason || s.ResultURL != from.ResultURL || !slices.Equal(s.Conditions, from.Conditions)
}

// to is a status with another phase.
func (s *status) to(number int64, phase, reason string, all ...condition) *status {
	out := s.clone()
	out.Observed, out.Phase, out.Reason = number, phase, cut(reason)
	for _, c := range all {
		out.set(c)
	}
	return out
}

// accepted is the status of an object whose job the gates have.
func (o *Operator) accepted(t *loadTest, job string) *status {
	s := t.Status.clone()
	s.Observed, s.Job, s.ResultURL = t.Metadata.Number, job, o.config.Result+"/v1/jobs/"+job+"/result"
	s.Reason = ""
	if s.Phase == "" || s.Phase == phasePending {
		s.Phase = phaseQueued
	}
	s.set(condition{Type: "Accepted", Status: "True", Reason: "Submitted"})
	if s.of("Finished") == nil {
		s.set(condition{Type: "Finished", Status: "False", Reason: "NotFinished"})
	}
	return s
}

// rejected is the status of an object that the gates do not take, and how long until the next try. What no try can change is final.
func rejected(was *status, number int64, err error) (*status, time.Duration) {
	var source *sourceError
	var r *refusal
	switch {
	case errors.As(err, &source):
		return was.to(number, phasePending, err.Error(), condition{Type: "Accepted", Status: "False", Reason: "NoProgram", Message: err.Error()}), compareEvery
	case errors.As(err, &r) && r.Code == unknownPlace:
		return was.to(number, phasePending, r.Message, condition{Type: "Accepted", Status: "False", Reason: "UnknownDatacenter", Message: r.Message}), compareEvery
	case errors.As(err, &r) && r.Code == unknownSink:
		return was.to(number, phasePending, r.Message, condition{Type: "Accepted", Status: "False", Reason: "UnknownSink", Message: r.Message}), compareEvery
	case errors.As(err, &r) && final(r.Status):
		return was.to(number, phaseRejected, r.Message,
			condition{Type: "Accepted", Status: "False", Reason: "Rejected", Message: r.Message},
			condition{Type: "Finished", Status: "True", Reason: phaseRejected}), compareEvery
	}
	reason := "the gates or the API server do not answer: the operator tries again"
	if errors.As(err, &r) && r.Code != "" {
		reason = "the operator tries again, as the answer was " + r.Code
	}
	return was.to(number, phasePending, reason, condition{Type: "Accepted", Status: "Unknown", Reason: "Waiting", Message: reason}), waitOf(err, retryFirst*5)
}

// unknownPlace is the gates' code for a datacenter that none of them knows: it may come.
const unknownPlace = "unknown_datacenter"

// unknownSink is the gates' code for a sink that the gate does not have: a file may name it later.
const unknownSink = "unknown_sink"

// final says that the same submission never succeeds: its program or its values are wrong.
func final(code int) bool {
	return slices.Contains([]int{http.StatusBadRequest, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity}, code)
}

func missedText(missed, all int) string {
	return fmt.Sprintf("%d of %d thresholds were missed", missed, all)
}

// cut bounds a text for people.
func cut(text string) string {
	text = strings.ToValidUTF8(text, "?")
	if len(text) <= textMax {
		return text
	}
	return strings.ToValidUTF8(text[:textMax-3], "") + "..."
}
