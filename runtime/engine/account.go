package engine

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/core/workflow"
	"hyperscale/runtime/protocol/http1"
)

const (
	statuses   = 1000 // a status has three digits
	exampleMax = 256  // bytes of an error's example
)

// account is what is known of one step. It belongs to one goroutine at a time.
type account struct {
	step      *step
	started   uint64
	sent      uint64 // requests that the kernel has whole, of functions and redirects, too
	ok        uint64
	failed    uint64
	timedOut  uint64
	cancelled uint64
	skipped   uint64
	bytesIn   uint64
	bytesOut  uint64
	statuses  [statuses]uint64
	errors    []message.ErrorCount
	latency   stats.Histogram
	service   stats.Histogram
	metric    stats.Histogram
	phases    [phases]stats.Histogram
	windows   stats.Windows
	told      uint64 // bytes that windows has
}

func newAccounts(g *graph) []account {
	all := make([]account, len(g.steps))
	for i := range all {
		all[i].step = &g.steps[i]
	}
	return all
}

// start counts a step that starts now.
func (a *account) start(now time.Duration) {
	a.started++
	a.windows.At(now).Started++
}

// answered counts a whole response of a request step and tells whether it is good.
func (a *account) answered(status int, t *times) bool {
	a.statuses[status%statuses]++
	a.record(t)
	w := a.window(time.Duration(t.mark))
	w.Record(uint64(t.latency()))
	if status < 400 {
		a.ok++
		w.OK++
		return true
	}
	a.failed++ // its kind is made of statuses by errorCounts: no text in the hot path
	w.Failed++
	return false
}

// expected counts a whole response that a step has looked into, and tells whether it is
// good: kind and why are what it does not like.
func (a *account) expected(status int, t *times, kind http1.Kind, why string) bool {
	a.statuses[status%statuses]++
	a.record(t)
	w := a.window(time.Duration(t.mark))
	w.Record(uint64(t.latency()))
	if why == "" {
		a.ok++
		w.OK++
		return true
	}
	a.failed++
	w.Failed++
	a.fault(string(kind), why)
	return false
}

// late counts a request whose time ran out.
func (a *account) late(kind http1.Kind, t *times) {
	a.record(t)
	w := a.window(time.Duration(t.mark))
	w.Record(uint64(t.latency()))
	a.timedOut++
	w.TimedOut++
	a.fault(string(kind), "no whole answer after "+time.Duration(t.latency()).Round(time.Millisecond).String())
}

// broken counts a step that failed without a whole answer.
func (a *account) broken(kind, example string, now time.Duration) {
	a.failed++
	a.window(now).Failed++
	a.fault(kind, example)
}

// outcome counts what a function returned. Its times are nil if they are not those of the
// answer that it was last given: then only the latency is known.
func (a *account) outcome(out workflow.Outcome, t *times, now time.Duration) {
	r := out.Response
	if t == nil && r != nil {
		t = &times{due: int64(now - r.Latency), mark: int64(now)}
	}
	w := a.window(now)
	if r != nil && r.Kind == "" && r.Status > 0 && a.step.plan.Kind == message.StepFunction {
		a.statuses[r.Status%statuses]++
		a.record(t)
		w.Record(uint64(t.latency()))
		if out.Kind == string(http1.KindStatus) {
			out.Kind = statusKind(r.Status)
		}
	}
	if out.HasValue {
		a.metric.Record(uint64(max(0, out.Value)))
	}
	switch {
	case out.OK:
		a.ok++
		w.OK++
	case out.Kind == string(http1.KindCancelled):
		a.cancelled++
	case !timedOut(out.Kind):
		a.broken(out.Kind, out.Detail, now)
	case r != nil:
		a.late(http1.Kind(out.Kind), t)
	default: // no request of it did: there is no latency
		a.timedOut++
		w.TimedOut++
		a.fault(out.Kind, out.Detail)
	}
}

// window is the present one. It is given the bytes since the last step that ended.
func (a *account) window(now time.Duration) *stats.Window {
	w := a.windows.At(now)
	w.Bytes += a.bytesIn + a.bytesOut - a.told
	a.told = a.bytesIn + a.bytesOut
	return w
}

func (a *account) fault(kind, example string) {
	for i := range a.errors {
		if a.errors[i].Kind == kind {
			a.errors[i].Count++ // the common case of a broken target: no text is made
			return
		}
	}
	a.errors = stats.AddError(a.errors, message.ErrorCount{Kind: clip(kind), Count: 1, Example: a.example(example)})
}

// example puts the request before what happened to it.
func (a *account) example(text string) string {
	if c := a.step.call; c != nil {
		text = c.Method + " " + c.Scheme + "://" + c.Address() + c.Path + ": " + text
	}
	return clip(text)
}

func clip(text string) string {
	text = strings.ToValidUTF8(text, "?")
	if len(text) > exampleMax {
		text = strings.ToValidUTF8(text[:exampleMax], "")
	}
	return text
}

func statusKind(status int) string { return string(http1.KindStatus) + " " + strconv.Itoa(status) }

// timedOut tells which kinds of failures are a matter of time.
func timedOut(kind string) bool {
	switch http1.Kind(kind) {
	case http1.KindTimeout, http1.KindConnectTimeout, http1.KindWriteTimeout:
		return true
	}
	return false
}

// stats copies the account into a message.
func (a *account) stats(now time.Duration) message.StepStats {
	if a.told != a.bytesIn+a.bytesOut {
		a.window(now)
	}
	out := message.StepStats{
		Name: a.step.plan.Name, Kind: a.step.plan.Kind,
		Started: a.started, Sent: a.sent, OK: a.ok, Failed: a.failed, TimedOut: a.timedOut, Cancelled: a.cancelled, Skipped: a.skipped,
		BytesIn: a.bytesIn, BytesOut: a.bytesOut,
		Errors:  slices.Clone(a.errors),
		Latency: a.latency.Wire(), Service: a.service.Wire(), Metric: a.metric.Wire(),
		Phases: a.wirePhases(), Windows: a.windows.Wire(),
	}
	for status, n := range a.statuses {
		if n == 0 {
			continue
		}
		out.Statuses = append(out.Statuses, message.StatusCount{Status: uint32(status), Count: n})
		if status >= 400 && a.step.plan.Kind == message.StepRequest && !a.step.judges {
			out.Errors = stats.AddError(out.Errors, message.ErrorCount{
				Kind: statusKind(status), Count: n, Example: a.example("answered " + strconv.Itoa(status)),
			})
		}
	}
	return out
}
