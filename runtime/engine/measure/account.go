package measure

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/core/workflow"
	"hyperscale/runtime/protocol/datagram"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/redact"
)

const (
	statuses   = 1000 // a status has three digits
	exampleMax = 256  // bytes of an error's example
)

// Account counts one step. It belongs to one goroutine at a time.
type Account struct {
	label
	started  uint64
	Sent     uint64 // requests that the kernel took completely, also of functions and redirects
	ok       uint64
	failed   uint64
	timedOut uint64
	rare
	BytesIn  uint64
	BytesOut uint64
	statuses [statuses]uint64
	errors   []message.ErrorCount
	latency  stats.Histogram
	service  stats.Histogram
	metric   stats.Histogram
	phases   [phases]stats.Histogram
	windows  stats.Windows
	spans    *stats.Spans // nil: no threshold looks at parts of the time
	told     uint64       // bytes that windows already count
	passed                // what PassOn has added to another
	protocols
}

// protocols have what the requests' protocols measure.
type protocols struct {
	events   *Events          // nil: it has had no stream
	messages *Messages        // nil: it has had no exchange of messages
	commands *Commands        // nil: it has asked no Redis server
	results  *Results         // nil: it has asked no PostgreSQL server
	packets  *datagram.Counts // nil: it has sent no datagram

	deliveries *Deliveries // nil: it has sent nothing to a broker
	customs    *Customs    // nil: no custom program has told measures
	transfers  *Transfers  // nil: it has asked no server of files
	mails      *Mails      // nil: it has asked no mail server
	paths      *Paths      // nil: it has opened no connection of QUIC
}

// rare are counts that most runs do not have.
type rare struct{ Cancelled, Skipped, Retried, Challenged uint64 }

// passed are figures that another account has too.
type passed struct{ sent, in, out uint64 }

// PassOn adds what the account sent and received since the last call to another: a function's
// figures count the bytes of its requests.
func (a *Account) PassOn(to *Account) {
	now := passed{a.Sent, a.BytesIn, a.BytesOut}
	to.Sent, to.BytesIn, to.BytesOut = to.Sent+now.sent-a.passed.sent, to.BytesIn+now.in-a.passed.in, to.BytesOut+now.out-a.passed.out
	a.passed = now
}

// Hop counts the answer of a redirect that the request follows, or of an upgrade.
func (a *Account) Hop(status int) { a.statuses[status%statuses]++ }

// status counts the status of an answer. Messages have none: their connection's upgrade had one.
func (a *Account) status(status int, t *Times) {
	if !t.Talked {
		a.statuses[status%statuses]++
	}
}

// Challenge counts the answer of a challenge that the request answers, or cannot answer.
func (a *Account) Challenge(status int) {
	a.statuses[status%statuses]++
	a.Challenged++
}

// Judged counts the whole answer of a function's request: a failure has a kind.
func (a *Account) Judged(status int, t *Times, kind, why string) {
	a.status(status, t)
	a.record(t)
	if kind == "" {
		a.count(time.Duration(t.Mark), endOK, t)
		return
	}
	a.count(time.Duration(t.Mark), endFailed, t)
	a.fault(kind, why)
}

// end is how a step ended.
type end uint8

const (
	endOK end = iota
	endFailed
	endTimedOut
)

// label names the step of an account.
type label struct {
	plan   *message.StepPlan
	call   *http1.Call // of a request step, else nil
	asks   string      // the first request of a function under this name
	judges bool        // the step decides itself which status is good
	mask   *redact.Mask
}

// NewAccount returns an account of a plan's step. Spans are nil if no threshold looks at parts
// of its time.
func NewAccount(plan *message.StepPlan, call *http1.Call, judges bool, spans *stats.Spans) Account {
	return Account{label: label{plan: plan, call: call, judges: judges}, spans: spans}
}

// Hide gives the account what no kind and no example of its errors shows: a mask finds no value that is cut.
func (a *Account) Hide(mask *redact.Mask) { a.mask = mask }

// Start counts a step that starts now.
func (a *Account) Start(now time.Duration) {
	a.started++
	a.windows.At(now).Started++
}

// Answered counts a complete response of a request step, and returns whether it is good.
func (a *Account) Answered(status int, t *Times) bool {
	a.status(status, t)
	a.record(t)
	if status < 400 {
		a.count(time.Duration(t.Mark), endOK, t)
		return true
	}
	a.count(time.Duration(t.Mark), endFailed, t) // Stats derives its kind from the status: no text in the hot path
	return false
}

// count counts an end in the sums and in the time when it came. Its times are nil if it has no
// latency.
func (a *Account) count(now time.Duration, how end, t *Times) {
	w := a.window(now)
	var s *stats.Span
	if a.spans != nil {
		s = a.spans.At(now)
	}
	if t != nil {
		a.windows.Record(now, uint64(t.Latency()))
		if s != nil {
			s.Record(uint64(t.Latency()), t.wrote != 0, uint64(t.service()))
		}
	}
	switch how {
	case endOK:
		a.ok++
		w.OK++
	case endFailed:
		a.failed++
		w.Failed++
	case endTimedOut:
		a.timedOut++
		w.TimedOut++
	}
	if s != nil {
		how.in(s)
	}
}

func (e end) in(s *stats.Span) {
	switch e {
	case endOK:
		s.OK++
	case endFailed:
		s.Failed++
	case endTimedOut:
		s.TimedOut++
	}
}

// Expected counts a complete response that a step has inspected, and returns whether it is
// good: kind and why say what is wrong.
func (a *Account) Expected(status int, t *Times, kind http1.Kind, why string) bool {
	a.status(status, t)
	a.record(t)
	if why == "" {
		a.count(time.Duration(t.Mark), endOK, t)
		return true
	}
	a.count(time.Duration(t.Mark), endFailed, t)
	a.fault(string(kind), why)
	return false
}

// Late counts a request that timed out.
func (a *Account) Late(kind http1.Kind, t *Times) {
	a.record(t)
	a.count(time.Duration(t.Mark), endTimedOut, t)
	a.fault(string(kind), "no whole answer after "+time.Duration(t.Latency()).Round(time.Millisecond).String())
}

// Broken counts a step that failed without a complete answer.
func (a *Account) Broken(kind, example string, now time.Duration) {
	a.count(now, endFailed, nil)
	a.fault(kind, example)
}

// Outcome counts what a function returned. Its times are nil if they do not belong to the last
// answer that it got: then only the latency is known.
func (a *Account) Outcome(out workflow.Outcome, t *Times, now time.Duration) {
	r := out.Response
	if t == nil && r != nil {
		t = &Times{due: int64(now - r.Latency), Mark: int64(now)}
	}
	var answered *Times
	if r != nil && r.Kind == "" && r.Status > 0 && a.plan.Kind == message.StepFunction {
		a.statuses[r.Status%statuses]++
		a.record(t)
		answered = t
		if out.Kind == string(http1.KindStatus) {
			out.Kind = StatusKind(r.Status)
		}
	}
	if out.HasValue {
		a.metric.Record(uint64(max(0, out.Value)))
		if a.spans != nil {
			a.spans.At(now).RecordMetric(uint64(max(0, out.Value)))
		}
	}
	switch {
	case out.OK:
		a.count(now, endOK, answered)
	case out.Kind == string(http1.KindCancelled):
		a.Cancelled++
	case !TimedOut(out.Kind):
		a.count(now, endFailed, answered)
		a.fault(out.Kind, out.Detail)
	case r != nil:
		a.Late(http1.Kind(out.Kind), t)
	default: // none of its requests did: it has no latency
		a.count(now, endTimedOut, nil)
		a.fault(out.Kind, out.Detail)
	}
}

// window returns the counts of the current window, and adds the bytes since the last step that ended.
func (a *Account) window(now time.Duration) *stats.Counts {
	w := a.windows.At(now)
	w.Bytes += a.BytesIn + a.BytesOut - a.told
	a.told = a.BytesIn + a.BytesOut
	return w
}

func (a *Account) fault(kind, example string) {
	for i := range a.errors {
		if a.errors[i].Kind == kind {
			a.errors[i].Count++ // the common case of a broken target: it builds no text
			return
		}
	}
	a.errors = stats.AddError(a.errors, message.ErrorCount{Kind: clip(a.mask.Line(a.bounded(kind))), Count: 1, Example: a.example(example)})
}

// Of the kinds that a server makes up a step counts so many apart: half of what it counts at all, so
// that the others keep their names.
const (
	serverKind      = "server "
	serverKindOther = serverKind + "other"
	serverKindsMax  = stats.KindsMax / 2
)

// bounded returns a new kind, or the one for all further kinds of its server.
func (a *Account) bounded(kind string) string {
	if !strings.HasPrefix(kind, serverKind) {
		return kind
	}
	n := 0
	for i := range a.errors {
		if strings.HasPrefix(a.errors[i].Kind, serverKind) {
			n++
		}
	}
	if n >= serverKindsMax {
		return serverKindOther
	}
	return kind
}

// example puts the request before the description of its failure.
func (a *Account) example(text string) string {
	if a.asks != "" {
		text = a.asks + ": " + text
	}
	if c := a.call; c != nil {
		text = c.Method + " " + c.Scheme + "://" + c.Address() + c.Path + ": " + text
	}
	return clip(a.mask.Example(text))
}

func clip(text string) string {
	text = strings.ToValidUTF8(text, "?")
	if len(text) > exampleMax {
		text = strings.ToValidUTF8(text[:exampleMax], "")
	}
	return text
}

func StatusKind(status int) string { return string(http1.KindStatus) + " " + strconv.Itoa(status) }

// TimedOut reports whether a kind of failure is a timeout.
func TimedOut(kind string) bool {
	switch http1.Kind(kind) {
	case http1.KindTimeout, http1.KindConnectTimeout, http1.KindWriteTimeout, http1.KindLost:
		return true
	}
	return false
}

// Spans copies what thresholds over parts of the time read.
func (a *Account) Spans() message.StepSpans {
	return message.StepSpans{Step: a.plan.Name, Spans: a.spans.Wire()}
}

// Stats copies the account into a message.
func (a *Account) Stats(now time.Duration) message.StepStats {
	if a.told != a.BytesIn+a.BytesOut {
		a.window(now)
	}
	out := message.StepStats{
		Name: a.plan.Name, Kind: a.plan.Kind,
		Started: a.started, Sent: a.Sent, OK: a.ok, Failed: a.failed, TimedOut: a.timedOut, Cancelled: a.Cancelled, Skipped: a.Skipped, Retried: a.Retried,
		BytesIn: a.BytesIn, BytesOut: a.BytesOut,
		Errors:  slices.Clone(a.errors),
		Latency: a.latency.Wire(), Service: a.service.Wire(), Metric: a.metric.Wire(),
		Phases: a.wirePhases(), Windows: a.windows.Wire(), Measures: a.measures(),
	}
	for status, n := range a.statuses {
		if n == 0 {
			continue
		}
		counted := message.StatusCount{Status: uint32(status), Count: n}
		if status == http.StatusUnauthorized {
			counted.Challenged = a.Challenged
		}
		out.Statuses = append(out.Statuses, counted)
		n -= counted.Challenged // those have not failed by their status
		if n > 0 && status >= 400 && a.plan.Kind == message.StepRequest && !a.judges {
			out.Errors = stats.AddError(out.Errors, message.ErrorCount{
				Kind: StatusKind(status), Count: n, Example: a.example("answered " + strconv.Itoa(status)),
			})
		}
	}
	return out
}
