package session

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
)

// Received is a Message for functions.
type Received struct {
	language.Opaque
	m       Message
	kind    Kind // of its session
	decoded starlark.Value
	of      Held // its session; nil: it settles nothing
	settled bool // its session said what became of it
}

var _ starlark.HasAttrs = (*Received)(nil)

// NewMessage returns a message of a session for functions.
func NewMessage(m Message, k Kind) *Received {
	return &Received{Opaque: language.Opaque{Kind: "message"}, m: m, kind: k}
}

func (m *Received) String() string {
	if m.m.Error != "" {
		return "<message: " + m.m.Error + ">"
	}
	return fmt.Sprintf("<message, %d bytes>", len(m.m.Data))
}

// AttrNames implements starlark.HasAttrs, as Attr does.
func (m *Received) AttrNames() []string {
	return append([]string{"data", "error", "headers", "json", "latency", "text"}, m.kind.has()...)
}

// Attr implements starlark.HasAttrs.
func (m *Received) Attr(name string) (starlark.Value, error) {
	switch name {
	case "data":
		if m.m.Binary {
			return starlark.Bytes(m.m.Data), nil
		}
		return starlark.String(m.m.Data), nil
	case "error":
		return starlark.String(m.m.Error), nil
	case "latency":
		return builtin.Duration(m.m.Latency), nil
	case "headers":
		out := starlark.NewDict(len(m.m.Headers))
		for _, h := range m.m.Headers {
			_ = out.SetKey(starlark.String(h.Name), starlark.String(h.Value)) // a text has a hash, and the dict is new
		}
		return out, nil
	case "text":
		return &guard.Func{Word: "text", Call: m.text}, nil
	case "json":
		return &guard.Func{Word: "json", Call: m.json}, nil
	}
	if !slices.Contains(m.kind.has(), name) {
		return nil, language.Missing("message", name, m.AttrNames())
	}
	if name == "retained" {
		return starlark.Bool(m.m.Retains), nil
	}
	text := m.m.ID
	switch name {
	case "deliveries":
		return starlark.MakeUint64(m.m.Deliveries), nil
	case "sequence":
		return starlark.MakeUint64(m.m.Sequence), nil
	case "redelivered":
		return starlark.Bool(m.m.Again), nil
	case "exchange":
		text = m.m.Channel
	case "key":
		text = m.m.Type
	case "event":
		if text = m.m.Type; text == "" && m.m.Error == "" {
			text = "message"
		}
	case "subject", "topic":
		text = m.m.Type
	case "channel":
		text = m.m.Channel
	case "pattern":
		text = m.m.Pattern
	}
	return starlark.String(text), nil
}

func (m *Received) text(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args)+len(kwargs) > 0 {
		return nil, language.Faultf("text takes no arguments")
	}
	if !m.m.Binary {
		return starlark.String(m.m.Data), nil
	}
	if err := guard.MeterOf(thread).Text(thread, "text()", len(m.m.Data)); err != nil {
		return nil, err
	}
	return starlark.String(strings.ToValidUTF8(string(m.m.Data), "\uFFFD")), nil
}

func (m *Received) json(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args)+len(kwargs) > 0 {
		return nil, language.Faultf("json takes no arguments")
	}
	if m.decoded != nil {
		return m.decoded, nil
	}
	if m.m.Error != "" {
		return nil, language.Faultf("there is no message to decode: %s", m.m.Error).Do("look at .error first")
	}
	v, err := builtin.DecodeJSON(thread, string(m.m.Data))
	if err != nil {
		return nil, language.Faultf("the message is not JSON: %v", err)
	}
	v.Freeze()
	m.decoded = v
	return v, nil
}
