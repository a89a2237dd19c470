package api

import (
	"fmt"
	"math"
	"net/http"
	"time"

	"hyperscale/core/message"
)

// Failure is the body of every answer that is none: {"error": ...}.
type Failure struct {
	Error Fault `json:"error"`
}

// Fault says what is wrong and what to do.
type Fault struct {
	Code              string    `json:"code"`                          // of a closed list, for programs
	Message           string    `json:"message"`                       // for people: what is wrong, and the remedy
	RetryAfterSeconds int       `json:"retry_after_seconds,omitempty"` // the same request can succeed then
	Detail            string    `json:"detail,omitempty"`              // names the field or the value
	Mistakes          []Mistake `json:"mistakes,omitempty"`            // of a program
	status            int       // of HTTP
}

// Mistake is one of a program's.
type Mistake struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
}

func (f *Fault) Error() string { return f.Code + ": " + f.Message + " " + f.Detail }

// fault returns one that has no code of the gates.
func fault(status int, code, format string, args ...any) *Fault {
	return &Fault{Code: code, Message: fmt.Sprintf(format, args...), status: status}
}

// meaning is what HTTP has for a code of the gates.
type meaning struct {
	status int
	name   string
}

// meanings has a row for each code.
func meanings(c message.Code) meaning {
	switch c {
	case message.CodeUnknownJob:
		return meaning{http.StatusNotFound, "unknown_job"}
	case message.CodeUnknownWorkflow:
		return meaning{http.StatusNotFound, "unknown_workflow"}
	case message.CodeNoLetter:
		return meaning{http.StatusNotFound, "no_dead_letter"}
	case message.CodeResultForgotten:
		return meaning{http.StatusGone, "result_forgotten"}
	case message.CodeKeyMismatch:
		return meaning{http.StatusConflict, "key_mismatch"}
	case message.CodeSeatKept:
		return meaning{http.StatusConflict, "set_kept"}
	case message.CodeUnknownDatacenter:
		return meaning{http.StatusUnprocessableEntity, "unknown_datacenter"}
	case message.CodeUnknownSink:
		return meaning{http.StatusUnprocessableEntity, "unknown_sink"}
	case message.CodeBadPlan:
		return meaning{http.StatusUnprocessableEntity, "bad_plan"}
	case message.CodeTooLarge:
		return meaning{http.StatusRequestEntityTooLarge, "too_large"}
	case message.CodeForbidden:
		return meaning{http.StatusForbidden, "forbidden"}
	case message.CodeRateLimited:
		return meaning{http.StatusTooManyRequests, "rate_limited"}
	case message.CodeVersion:
		return meaning{http.StatusNotImplemented, "version"}
	case message.CodeStaleFence:
		return meaning{http.StatusInternalServerError, "stale_fence"}
	case message.CodeGateSet:
		return meaning{http.StatusInternalServerError, "gate_set"}
	}
	return unavailable(c)
}

// unavailable has the rows of what passes: 503.
func unavailable(c message.Code) meaning {
	name := "internal"
	switch c {
	case message.CodeNoDatacenter:
		name = "no_datacenter"
	case message.CodeQueueFull:
		name = "queue_full"
	case message.CodeNoCores:
		name = "no_cores"
	case message.CodeDraining:
		name = "draining"
	case message.CodeStoreFull:
		name = "store_full"
	case message.CodeNotOwner:
		name = "not_owner"
	case message.CodeUnreachable:
		name = "unreachable"
	case message.CodeQuorumUnavailable:
		name = "quorum_unavailable"
	case message.CodeQuorumTimeout:
		name = "quorum_timeout"
	case message.CodeCircuitOpen:
		name = "circuit_open"
	case message.CodeNotMember:
		name = "not_member"
	case message.CodeNotRenewed:
		name = "not_renewed"
	case message.CodeOverloaded:
		name = "overloaded"
	default:
		return meaning{http.StatusInternalServerError, name}
	}
	return meaning{http.StatusServiceUnavailable, name}
}

// refused is what a gate's rejection is here.
func (s *Server) refused(r *message.Refused) *Fault {
	m := meanings(r.Code)
	f := &Fault{Code: m.name, Message: r.Code.String() + ": " + remedy(r.Code), Detail: r.Detail, status: m.status}
	wait := r.RetryAfter
	if m.status == http.StatusServiceUnavailable {
		wait = max(wait, s.load.wait())
	}
	f.RetryAfterSeconds = seconds(wait)
	return f
}

// remedy is what a caller of the API does, where the catalogue's remedy names flags of commands.
func remedy(c message.Code) string {
	switch c {
	case message.CodeKeyMismatch:
		return "choose another Idempotency-Key, or send the same body"
	case message.CodeUnknownDatacenter:
		return "list them with GET /v1/datacenters"
	case message.CodeUnreachable:
		return "retry after the time given"
	case message.CodeForbidden:
		return "use a token of a role that may do it"
	}
	return c.Remedy()
}

func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

// The waits of a server that has much to do, by how much of its room is taken.
const (
	waitLeast = 5 * time.Second
	waitMore  = 15 * time.Second // from 90 % on
	waitMost  = 30 * time.Second // from 95 % on
)

// waitAt is how long a caller waits while so many of a bound are taken.
func waitAt(taken, bound int) time.Duration {
	switch {
	case 100*taken >= 95*bound:
		return waitMost
	case 100*taken >= 90*bound:
		return waitMore
	}
	return waitLeast
}
