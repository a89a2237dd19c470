package sim

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Tracer writes everything as JSON lines. Lines of events have the form of a history; the
// others say what a node received ("in") or asked for ("out").
type Tracer struct {
	// Bodies writes whole messages, not only their names and digests.
	Bodies bool

	w   io.Writer
	err error
}

var _ Observer = (*Tracer)(nil)

// NewTracer returns an observer that writes to w. Buffer w: each line is a write.
func NewTracer(w io.Writer) *Tracer { return &Tracer{w: w} }

// Err is the first error of the writer; the tracer writes nothing after it.
func (t *Tracer) Err() error { return t.err }

// traceLine is one line, without the fields that do not apply.
type traceLine struct {
	At      time.Duration `json:"at_ns"`
	Node    node.ID       `json:"node,omitempty"`
	In      string        `json:"in,omitempty"`
	Out     string        `json:"out,omitempty"`
	From    string        `json:"from,omitempty"`
	To      node.Addr     `json:"to,omitempty"`
	Stream  node.StreamID `json:"stream,omitempty"`
	Message string        `json:"message,omitempty"`
	Digest  string        `json:"digest,omitempty"`
	Body    node.Message  `json:"body,omitempty"`
	Timer   string        `json:"timer,omitempty"`
	Delay   time.Duration `json:"delay_ns,omitempty"`
	WriteID node.WriteID  `json:"token,omitempty"`
	Keys    []string      `json:"keys,omitempty"`
	Exec    node.ExecID   `json:"exec,omitempty"`
	Until   node.Instant  `json:"until,omitempty"`
	Core    *int          `json:"core,omitempty"`
	Command uint64        `json:"command,omitempty"`
	Reason  string        `json:"reason,omitempty"`
	Fault   *Fault        `json:"fault,omitempty"`
}

// eventLine has the fields of a history's line.
type eventLine struct {
	At          time.Duration `json:"at_ns"`
	Node        node.ID       `json:"node"`
	Incarnation uint64        `json:"incarnation"`
	Event       string        `json:"event"`
	Data        node.Event    `json:"data"`
}

func (t *Tracer) write(line any) {
	if t.err != nil {
		return
	}
	b, err := json.Marshal(line)
	if err == nil {
		_, err = t.w.Write(append(b, '\n'))
	}
	if err != nil {
		t.err = fmt.Errorf("write a line of the trace: %w", err)
	}
}

// carry puts a message's name into a line.
func (t *Tracer) carry(l *traceLine, m node.Message) {
	if m == nil {
		return
	}
	l.Message, l.Digest = message.NameOf(m), fmt.Sprintf("%016x", m.Digest())
	if t.Bodies {
		l.Body = m
	}
}

// Input implements Observer.
func (t *Tracer) Input(at time.Duration, id node.ID, in *node.Input) {
	l := traceLine{At: at, Node: id, In: in.Kind.String(), Stream: in.Stream, WriteID: in.WriteID, Command: uint64(in.Command), Reason: in.Reason}
	if in.From.ID != "" {
		l.From = in.From.String()
	}
	t.carry(&l, in.Message)
	switch in.Kind {
	case node.InputTimer:
		l.Timer = in.Timer.String()
	case node.InputStored:
		if in.Err != nil {
			l.Reason = in.Err.Error()
		}
	case node.InputExec:
		l.Exec, l.Reason = in.Exec.ID, in.Exec.Reason
		if in.Exec.Kind == node.ExecGone {
			l.Message = "gone"
		}
		t.carry(&l, in.Exec.Body)
	}
	t.write(&l)
}

// Effect implements Observer.
func (t *Tracer) Effect(at time.Duration, id node.ID, e *Effect) {
	l := traceLine{At: at, Node: id, Out: e.Kind.String(), To: e.To, Stream: e.Stream, Delay: e.Delay, WriteID: e.WriteID,
		Exec: e.Exec, Until: e.Until, Command: uint64(e.Command), Reason: e.Reason}
	t.carry(&l, e.Message)
	switch e.Kind {
	case EffectSetTimer, EffectCancelTimer:
		l.Timer = e.Timer.String()
	case EffectExecStart:
		core := e.Core
		l.Core = &core
	}
	for _, r := range e.Records {
		l.Keys = append(l.Keys, r.Key)
	}
	t.write(&l)
}

// Event implements Observer.
func (t *Tracer) Event(at time.Duration, id node.ID, incarnation uint64, e node.Event) {
	t.write(&eventLine{at, id, incarnation, e.EventName(), e})
}

// Fault implements Observer.
func (t *Tracer) Fault(at time.Duration, f Fault) { t.write(&traceLine{At: at, Fault: &f}) }
