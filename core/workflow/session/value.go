package session

import (
	"slices"
	"time"

	"go.starlark.net/starlark"

	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/secret"
)

// Value is a session for functions.
type Value struct {
	language.Opaque
	noun  string // "vu.websocket": what opened it
	link  Held
	owner any // the virtual user
	kind  Kind
}

var _ starlark.HasAttrs = (*Value)(nil)

// Held is a Link that knows the response of the whole, once it is over.
type Held interface {
	Link
	Whole() starlark.Value
}

// New returns a session that its owner has opened by a noun.
func New(noun string, link Held, owner any, k Kind) *Value {
	return &Value{Opaque: language.Opaque{Kind: "session"}, noun: noun, link: link, owner: owner, kind: k}
}

// AttrNames implements starlark.HasAttrs, as Attr does.
func (v *Value) AttrNames() []string {
	return v.kind.attributes()
}

// Attr implements starlark.HasAttrs.
func (v *Value) Attr(name string) (starlark.Value, error) {
	if !slices.Contains(v.AttrNames(), name) {
		return nil, language.Missing("session", name, v.AttrNames())
	}
	if as, ok := settles(name); ok {
		return v.settle(name, as), nil
	}
	switch name {
	case "status":
		return starlark.MakeInt(v.link.Status()), nil
	case "error":
		kind, why := v.link.Over()
		if why == "" {
			why = kind
		}
		return starlark.String(why), nil
	case "send":
		return &guard.Func{Word: "send", Call: v.send}, nil
	case "receive":
		return &guard.Func{Word: "receive", Call: v.receive}, nil
	case "nack":
		return &guard.Func{Word: "nack", Call: v.nack}, nil
	case "close_send":
		return &guard.Func{Word: "close_send", Call: v.closeSend}, nil
	case "ping":
		return &guard.Func{Word: "ping", Call: v.ping}, nil
	}
	return &guard.Func{Word: "close", Call: v.close}, nil
}

// foreign reports an error where another virtual user's function has got the session.
func (v *Value) foreign(thread *starlark.Thread) error {
	if guard.MeterOf(thread).Owner != v.owner {
		return language.Faultf("this session belongs to another virtual user").Do("open one in vu_setup and keep it in vu.vars")
	}
	return nil
}

func (v *Value) send(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [2]starlark.Value
	if err := language.Bind("send", []string{"data", "json"}, 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	if (in[0] == nil) == (in[1] == nil) {
		return nil, language.Faultf("send: give either data or json").Do("write send(\"hello\"), or send(json = {\"n\": 1})")
	}
	data, binary, err := v.said(thread, in[0], in[1])
	if err != nil {
		return nil, err
	}
	if err := v.foreign(thread); err != nil {
		return nil, err
	}
	if err := guard.MeterOf(thread).Charge(thread, len(data)); err != nil {
		return nil, err
	}
	queued, err := v.link.Send(data, binary)
	return starlark.Bool(queued), err
}

// said returns what a message has: its data, or a value as JSON.
func (v *Value) said(thread *starlark.Thread, given, asJSON starlark.Value) (data []byte, binary bool, err error) {
	if v.kind == Call && given != nil {
		switch given.(type) {
		case starlark.String, *secret.Text, starlark.Bytes:
		default:
			given, asJSON = nil, given // a message of the schema is a dict
		}
	}
	switch d := given.(type) {
	case nil:
		data, err = builtin.EncodeJSON(thread, asJSON)
		return data, false, err
	case starlark.String:
		return []byte(d), false, nil
	case *secret.Text:
		text, err := d.Sent()
		return []byte(text), false, err
	case starlark.Bytes:
		if v.kind == Call {
			return nil, false, language.WrongType("send", "data", "a dict, or a text of JSON", d)
		}
		return []byte(d), true, nil
	}
	return nil, false, language.WrongType("send", "data", "a text or bytes", given).Do("for a dict or a list write send(json = ...)")
}

func (v *Value) closeSend(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if err := language.Bind("close_send", nil, 0, args, kwargs, nil); err != nil {
		return nil, err
	}
	if err := v.foreign(thread); err != nil {
		return nil, err
	}
	return starlark.None, v.link.CloseSend()
}

// timeout reads the only argument of receive and ping; 0: the workflow's.
func (v *Value) timeout(thread *starlark.Thread, fn string, args starlark.Tuple, kwargs []starlark.Tuple) (d time.Duration, err error) {
	var in [1]starlark.Value
	if err := language.Bind(fn, []string{"timeout"}, 1, args, kwargs, in[:]); err != nil {
		return 0, err
	}
	if in[0] != nil {
		if d, err = language.Duration(fn, "timeout", in[0]); err != nil {
			return 0, err
		}
		d = max(d, 1) // what has come already is received
	}
	return d, v.foreign(thread)
}

func (v *Value) receive(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	d, err := v.timeout(thread, "receive", args, kwargs)
	if err != nil {
		return nil, err
	}
	m, err := v.link.Receive(d)
	if err != nil {
		return nil, err
	}
	got := NewMessage(m, v.kind)
	got.of = v.link
	return got, guard.MeterOf(thread).Charge(thread, m.Size()+64)
}

func (v *Value) ping(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	d, err := v.timeout(thread, "ping", args, kwargs)
	if err != nil {
		return nil, err
	}
	m, err := v.link.Ping(d)
	if err != nil {
		return nil, err
	}
	return NewMessage(m, v.kind), nil
}

// closeCode is the code of a normal closure. Codes below it are none (RFC 6455, 7.4.2).
const (
	closeCode     = 1000
	closeCodeMost = 4999
)

func (v *Value) close(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	code := closeCode
	names := []string{"code"}
	if v.kind != Socket && v.kind != Every {
		names = nil
	}
	var in [1]starlark.Value
	if err := language.Bind("close", names, len(names), args, kwargs, in[:len(names)]); err != nil {
		return nil, err
	}
	if in[0] != nil {
		var err error
		if code, err = language.Integer("close", "code", in[0], closeCode, closeCodeMost); err != nil {
			return nil, err
		}
		if slices.Contains([]int{1004, 1005, 1006}, code) || code > 1014 && code < 3000 {
			return nil, language.Faultf("close: the code %d may not travel", code).In("code").Do("use 1000, or 3000 to 4999 for an application's own")
		}
	}
	if err := v.foreign(thread); err != nil {
		return nil, err
	}
	if err := v.link.Goodbye(uint16(code)); err != nil {
		return nil, err
	}
	return v.link.Whole(), nil
}
