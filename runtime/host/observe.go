package host

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Line is one line of a history, as the checker reads it: an event, the node that decided it,
// and its time by the node's own clock. Nodes of one machine share that clock; instants of
// different machines do not compare.
type Line struct {
	At          node.Instant `json:"at_ns"`
	Node        node.ID      `json:"node"`
	Incarnation uint64       `json:"incarnation"`
	Event       string       `json:"event"`
	Data        node.Event   `json:"data"`
}

// history writes events as lines of JSON. The first error ends it, and the node reports that
// error at its end: a history with a hole proves nothing.
type history struct {
	self node.Peer

	mu  sync.Mutex
	out io.Writer
	err error
}

func (h *history) write(at node.Instant, e node.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.out == nil || h.err != nil {
		return
	}
	b, err := json.Marshal(Line{At: at, Node: h.self.ID, Incarnation: h.self.Incarnation, Event: e.EventName(), Data: e})
	if err == nil {
		_, err = h.out.Write(append(b, '\n'))
	}
	h.err = err
}

func (h *history) failure() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.err
}

// A log takes linesAtOnce lines of one event at once, then one line per linesEvery. So a flood
// of clients fills no disk, and hides no line about anything else.
const (
	linesAtOnce = 100
	linesEvery  = 100 * time.Millisecond
)

// lines bounds how many lines of each event a log takes. Metrics and histories have all of them.
type lines struct {
	mu sync.Mutex
	of map[string]*budget
}

// budget holds when an event has used up its lines, as if each took linesEvery, and how many it
// has lost since its last line.
type budget struct {
	until node.Instant
	left  int
}

// admit says whether one more line of an event fits, and how many have not since its last one.
func (l *lines) admit(name string, at node.Instant) (left int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.of[name]
	if b == nil {
		b = &budget{}
		l.of[name] = b
	}
	if b.until.Sub(at) >= linesAtOnce*linesEvery {
		b.left++
		return 0, false
	}
	b.until = max(b.until, at).Add(linesEvery)
	left, b.left = b.left, 0
	return left, true
}

// logEvent writes one line for a decision, with the event's fields as keys. An error, which
// waits for an operator, is never left out, and a log of everything (debug) leaves out nothing.
func (l *lines) logEvent(to *slog.Logger, at node.Instant, e node.Event) {
	level := levelOf(e)
	ctx := context.Background()
	if !to.Enabled(ctx, level) {
		return
	}
	left, ok := 0, true
	if !to.Enabled(ctx, slog.LevelDebug) {
		left, ok = l.admit(e.EventName(), at)
	}
	if !ok && level < slog.LevelError {
		return
	}
	all := attributes(at, e)
	if left > 0 {
		all = append(all, slog.Int("lines_left_out", left))
	}
	to.LogAttrs(ctx, level, e.EventName(), all...)
}

// levelOf chooses a level by the reader: operators see losses and refusals at once, and above
// all what waits for them.
func levelOf(e node.Event) slog.Level {
	switch e := e.(type) {
	case event.GroupAlarm:
		return slog.LevelError
	case event.NameFailed, event.GatesRecalled, event.PeerLost, event.PeerRefused, event.ShardLost, event.BudgetSpent, event.ExecutorGone, event.ExecutorWatched, event.MemoryLevel, event.StoreFailed, event.Shed, event.FenceRefused,
		event.GroupRefused, event.GroupMoved, event.ClockSuspect, event.Implausible:
		return slog.LevelWarn
	case event.ManagerJudged:
		if e.To != "route" {
			return slog.LevelWarn
		}
	case event.BoundNear:
		if e.Near {
			return slog.LevelWarn
		}
	case event.Alert:
		switch {
		case e.Change != event.AlertRaised:
		case e.Severity == "critical":
			return slog.LevelError
		default:
			return slog.LevelWarn
		}
	case event.MemberChanged:
		if e.To == "dead" {
			return slog.LevelWarn
		}
	case event.JobChanged: // two lines of a job that nothing befalls
		if !e.To.Terminal() && (e.To != message.JobQueued || e.From == message.JobSubmitted) { // event.JobSubmitted tells the latter
			return slog.LevelDebug
		}
	case event.LeaseGranted:
		if e.Token.Epoch == 1 { // not taken over
			return slog.LevelDebug
		}
	case event.LeaseEnded:
		switch e.Reason {
		case "expired", "superseded": // against the will of its holder
			return slog.LevelWarn
		case "released":
			return slog.LevelDebug
		}
	case event.Acted, event.Ignored, event.FenceStored, event.ShardRenewed, event.ClientCalled, event.ClientReturned, event.ClientTold, event.AskedAgain, event.GatesKnown, event.GatePreferred,
		event.LeaseExtended, event.LeaseCalled, event.LeaseReturned, event.AcceptorWrote, event.Reached, event.BoundUsed, event.LettersKept, event.CoresWanted, event.FleetCounted, event.JobBegan,
		event.SubjobDispatched, event.SubjobCounted, event.WorkflowEnded:
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

// ownKeys identify the logging node on each of its lines. An event's field of that name means
// another member.
var ownKeys = []string{"node", "incarnation"}

// attributes lists the exported fields of an event.
func attributes(at node.Instant, e node.Event) []slog.Attr {
	v := reflect.Indirect(reflect.ValueOf(e))
	if v.Kind() != reflect.Struct {
		return nil
	}
	var all []slog.Attr
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() {
			all = append(all, attribute(at, snake(f.Name), v.Field(i).Interface()))
		}
	}
	return all
}

// attribute writes a field in the words of `status --cluster`: a fence as epoch/ordinal, an instant, which means nothing
// to a reader, as the time from the event to it or since it.
func attribute(at node.Instant, key string, value any) slog.Attr {
	if slices.Contains(ownKeys, key) {
		key = "member_" + key
	}
	switch of := value.(type) {
	case message.LeaseToken:
		if key == "token" {
			key = "fence"
		}
		return slog.String(key, of.String())
	case message.Fence:
		return slog.String(key, fenceText(of))
	case message.LeaseLife:
		return slog.Uint64("holder_incarnation", of.Incarnation)
	case node.Instant:
		if key == "until" {
			return slog.Any("left", of.Sub(at).Round(time.Millisecond))
		}
		return slog.Any(key+"_ago", at.Sub(of).Round(time.Millisecond))
	}
	return slog.Any(key, value)
}

// fenceText writes the gate's token, then those of the manager and of the attempt that a fence has.
func fenceText(f message.Fence) string {
	text := message.UnpackToken(f.JobEpoch).String()
	if f.SubjobEpoch > 0 || f.Attempt > 0 {
		text += "." + message.UnpackToken(f.SubjobEpoch).String()
	}
	if f.Attempt > 0 {
		text += "." + strconv.FormatUint(f.Attempt, 10)
	}
	return text
}

// snake turns a field's name into a key: "VUs" is vus, "CoresFree" cores_free.
func snake(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		lowerNext := i+2 < len(runes) && unicode.IsLower(runes[i+1]) && unicode.IsLower(runes[i+2])
		if i > 0 && unicode.IsUpper(r) && (unicode.IsLower(runes[i-1]) || lowerNext) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
