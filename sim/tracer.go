package sim

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Tracer writes everything as JSON lines. Lines of events have the form of a history; the
// others say what a node received ("in") or asked for ("out").
type Tracer struct {
	// Bodies writes whole messages, not only their names and digests.
	Bodies bool

	w    io.Writer
	err  error
	line []byte // reused
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

// append appends the line as encoding/json writes it: nine of ten lines of a trace are of this
// kind, and reflection took most of a traced run's time.
func (l *traceLine) append(b []byte) ([]byte, error) {
	var err error
	value := func(name string, v any) {
		var field []byte
		if field, err = json.Marshal(v); err == nil {
			b = append(append(b, name...), field...)
		}
	}
	text := func(name, s string) {
		switch {
		case s == "" || err != nil:
		case plain(s):
			b = append(append(append(append(b, name...), '"'), s...), '"')
		default:
			value(name, s)
		}
	}
	number := func(name string, n uint64) {
		if n != 0 {
			b = strconv.AppendUint(append(b, name...), n, 10)
		}
	}
	signed := func(name string, n int64) {
		if n != 0 {
			b = strconv.AppendInt(append(b, name...), n, 10)
		}
	}
	b = strconv.AppendInt(append(b, `{"at_ns":`...), int64(l.At), 10)
	text(`,"node":`, string(l.Node))
	text(`,"in":`, l.In)
	text(`,"out":`, l.Out)
	text(`,"from":`, l.From)
	text(`,"to":`, string(l.To))
	number(`,"stream":`, uint64(l.Stream))
	text(`,"message":`, l.Message)
	text(`,"digest":`, l.Digest)
	if l.Body != nil && err == nil {
		value(`,"body":`, l.Body)
	}
	text(`,"timer":`, l.Timer)
	signed(`,"delay_ns":`, int64(l.Delay))
	number(`,"token":`, uint64(l.WriteID))
	if len(l.Keys) > 0 && err == nil {
		value(`,"keys":`, l.Keys)
	}
	number(`,"exec":`, uint64(l.Exec))
	signed(`,"until":`, int64(l.Until))
	if l.Core != nil {
		b = strconv.AppendInt(append(b, `,"core":`...), int64(*l.Core), 10)
	}
	number(`,"command":`, l.Command)
	text(`,"reason":`, l.Reason)
	if l.Fault != nil && err == nil {
		value(`,"fault":`, l.Fault)
	}
	return append(b, '}'), err
}

// plain says that JSON quotes a string as it is.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return false
		}
	}
	return true
}

func (t *Tracer) write(b []byte, err error) {
	if t.err != nil {
		return
	}
	if t.line = b; err == nil {
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
	t.write(l.append(t.line[:0]))
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
	t.write(l.append(t.line[:0]))
}

// Event implements Observer.
func (t *Tracer) Event(at time.Duration, id node.ID, incarnation uint64, e node.Event) {
	t.write(json.Marshal(&eventLine{at, id, incarnation, e.EventName(), e}))
}

// Fault implements Observer.
func (t *Tracer) Fault(at time.Duration, f Fault) {
	l := traceLine{At: at, Fault: &f}
	t.write(l.append(t.line[:0]))
}
