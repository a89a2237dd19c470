package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"hyperscale/core/message"
	"hyperscale/runtime/report"
	"hyperscale/runtime/ui/units"
)

// Line describes a job's state in one line, for logs.
func Line(m *Model) string {
	head := fmt.Sprintf("%7s  %-11s", units.Duration(m.Elapsed), m.State)
	if waiting := m.waiting(); waiting != "" {
		return head + "  " + waiting
	}
	started, _, failed := m.Sums()
	waiters := m.waitersLine()
	if started == 0 {
		return strings.TrimRight(head+"  "+waiters, " ")
	}
	if waiters != "" {
		waiters = "  " + waiters
	}
	n, word := m.begun()
	if len(m.Points) == 0 {
		return fmt.Sprintf("%s  %s  %s %s  %s failed%s", head, units.Counted(m.Active(), "VU"), units.Count(n), word, units.Count(failed), waiters)
	}
	now := m.Now()
	return fmt.Sprintf("%s  %s  %s/s  p50 %s  p99 %s  %s %s  %s failed%s",
		head, units.Counted(m.Active(), "VU"), units.Milli(now.RateMilli), units.LatencyOr(now.P50), units.LatencyOr(now.P99), units.Count(n), word, units.Count(failed), m.arrivals("  ")+waiters)
}

// EndLine describes how a workflow ended, in one line.
func EndLine(e *message.WorkflowEnded) string {
	again := ""
	if e.Again {
		again = ", this time in another datacenter"
	}
	text := fmt.Sprintf("workflow %s ended %v after %s%s: %s, %s failed", units.Clean(e.Name), e.State, units.Duration(e.Duration), again, units.Counted(e.Started, "request"), units.Count(e.Failed))
	if e.Unreported > 0 {
		text += ", at most " + atMost(e.Unreported) + " of its load is in no figure"
	}
	if e.P99 > 0 {
		text += fmt.Sprintf(", p50 %s, p99 %s", units.Latency(uint64(e.P50)), units.Latency(uint64(e.P99)))
	}
	switch all := e.Met + e.Missed; {
	case all == 0:
		return text
	case e.Missed == 0:
		return text + ", " + units.Counted(uint64(all), "threshold") + " met"
	default:
		return text + fmt.Sprintf(", %d of %s missed", e.Missed, units.Counted(uint64(all), "threshold"))
	}
}

// arrivals compares requested arrivals with the iterations of the last sample: how many began,
// waited, and were dropped.
func (m *Model) arrivals(gap string) string {
	var asked, begun, late, dropped uint64
	open := false
	for _, f := range m.flows {
		if !f.open && f.now.Generator.Dropped+f.now.Generator.Waited == 0 {
			continue // its users ask for nothing: they begin when they are done
		}
		open = true
		asked, begun = asked+f.pace.askedMilli, begun+f.pace.begunMilli
		late, dropped = late+f.now.Generator.Waited, dropped+f.now.Generator.Dropped
	}
	if !open {
		return ""
	}
	text := fmt.Sprintf("%s%s/s asked%s%s/s begun", gap, units.Milli(asked), gap, units.Milli(begun))
	if late > 0 {
		text += gap + units.Count(late) + " late"
	}
	if dropped > 0 {
		text += gap + units.Count(dropped) + " dropped"
	}
	return text
}

// turn is what a workflow starts after, and what it waits for when its turn has come.
type turn struct {
	after []string
	waits string
}

func (t *turn) promise(w *message.WorkflowPlan, plan []message.WorkflowPlan) {
	t.after = nil
	for _, at := range slices.Sorted(slices.Values(slices.Concat(w.Depends, w.StartAfter))) {
		if int(at) < len(plan) {
			t.after = append(t.after, plan[at].Name)
		}
	}
	t.after = slices.Compact(t.after)
}

// waiters says of each workflow that does not send load what it waits for: others, cores, or the
// requests in flight after its time.
func (m *Model) waiters() (all []string) {
	if m.State.Terminal() || m.waiting() != "" {
		return nil
	}
	ended := map[string]bool{}
	for _, f := range m.flows {
		ended[f.name] = f.state.Terminal()
	}
	for _, f := range m.flows {
		if what := f.waitsFor(ended); what != "" {
			all = append(all, units.Clean(f.name)+" "+what)
		}
	}
	return all
}

func (f *flow) waitsFor(ended map[string]bool) string {
	if f.state.Terminal() {
		return ""
	}
	open := slices.DeleteFunc(slices.Clone(f.turn.after), func(name string) bool { return ended[name] })
	switch {
	case f.state < message.WorkflowRunning && len(open) > 0:
		return "waits for " + units.Clean(strings.Join(open, ", "))
	case f.turn.waits != "":
		return units.Clean(strings.TrimPrefix(f.turn.waits, "it "))
	case f.planned > 0 && f.now.Elapsed >= f.whole():
		return f.drains()
	}
	return ""
}

// drains says what a workflow does after its time.
func (f *flow) drains() string {
	var flight uint64
	for i := range f.now.Steps {
		if s := &f.now.Steps[i]; s.Kind.Measured() {
			flight += s.Started - min(s.Started, s.OK+s.Failed+s.TimedOut+s.Cancelled)
		}
	}
	if flight == 0 {
		return "has sent all; its result is on the way"
	}
	return fmt.Sprintf("waits for %s in flight", units.Counted(flight, cmp.Or(f.noun(), "request")))
}

// noun names what is in flight: a function sends any number of requests.
func (f *flow) noun() string {
	for i := range f.now.Steps {
		if s := &f.now.Steps[i]; s.Kind == message.StepFunction && s.Started > s.OK+s.Failed+s.TimedOut+s.Cancelled {
			return "iteration"
		}
	}
	return ""
}

// waitersShown bounds them on a line.
const waitersShown = 3

// waitersLine is all of them, for a line of a log or of the screen.
func (m *Model) waitersLine() string {
	all := m.waiters()
	if more := len(all) - waitersShown; more > 0 {
		all = append(all[:waitersShown:waitersShown], fmt.Sprintf("%d more wait", more))
	}
	if seldom := m.seldom(); seldom != "" {
		all = append(all, seldom)
	}
	return strings.Join(append(all, m.lateSinks()...), "; ")
}

// lateSinks are sinks of the cluster that are behind, or lack rows for good.
func (m *Model) lateSinks() (all []string) {
	for i := range m.sinks {
		if text := sinkTrouble(&m.sinks[i]); text != "" {
			all = append(all, text)
		}
	}
	return all
}

// sinkTrouble says in a few words what a reader must know of a sink; empty: nothing.
func sinkTrouble(s *report.Sink) string {
	name := "sink " + units.Clean(s.Name)
	switch word, _ := s.State(); word {
	case report.SinkGivenUp:
		return name + " is " + word
	case report.SinkLacks:
		return fmt.Sprintf("%s lacks %s", name, units.Counted(s.Lost+s.Rejected, "row"))
	case report.SinkBehind:
		return fmt.Sprintf("%s is %s %s", name, units.Duration(time.Duration(s.BehindNS)), word)
	}
	return ""
}

// SinkText is how far a sink of the cluster is, in a line.
func SinkText(s *report.Sink) string {
	name := s.Name
	if s.Kind != "" {
		name += " (" + s.Kind + ")"
	}
	word, _ := s.State()
	text := fmt.Sprintf("sink %s: %s, %s delivered", name, word, units.Counted(s.Delivered, "row"))
	if s.ThroughNS > 0 && !s.Done {
		text += " through " + units.Duration(time.Duration(s.ThroughNS))
	}
	if s.Behind > 0 {
		text += fmt.Sprintf(", %s late by %s", units.Counted(s.Behind, "window"), units.Duration(time.Duration(s.BehindNS)))
	}
	if s.Rejected > 0 {
		text += fmt.Sprintf(", %s rejected (%s)", units.Count(s.Rejected), units.Counted(s.RejectedRequests, "request"))
	}
	if s.Lost > 0 {
		text += fmt.Sprintf(", %s lost (%s)", units.Count(s.Lost), units.Counted(s.LostRequests, "request"))
	}
	if s.PerhapsTwice > 0 {
		text += fmt.Sprintf(", %s perhaps twice", units.Count(s.PerhapsTwice))
	}
	if why := s.Why(); why != "" {
		text += ": " + why
	}
	return units.Clean(text)
}

// seldom says that figures are older than people expect: a datacenter has many workers, or its manager
// is behind.
func (m *Model) seldom() string {
	var every time.Duration
	var of []string
	for _, p := range m.places {
		if p.every > 0 && !m.State.Terminal() {
			every, of = max(every, p.every), append(of, units.Clean(p.name))
		}
	}
	if every == 0 {
		return ""
	}
	return fmt.Sprintf("figures every %s from %s", every, strings.Join(of, ", "))
}
