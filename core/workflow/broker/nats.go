package broker

import (
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/request"
	"hyperscale/core/workflow/secret"
)

// dataMost bounds a message, in bytes: nats-server takes no more, whatever its max_payload says.
const dataMost = 64 << 20

// idHeader names a message for JetStream, which drops a second one with the same.
const idHeader = "Nats-Msg-Id"

// NATSArguments are those of nats.request, or of nats.publish.
func NATSArguments(publish bool) []string {
	if publish {
		return []string{"target", "subject", "data", "headers", "flush", "stream", "id", "stamp", "timeout", "retry"}
	}
	return []string{"target", "subject", "data", "headers", "timeout", "retry"}
}

// SubscribeArguments are those of vu.nats.subscribe.
func SubscribeArguments() []string { return []string{"target", "subject", "queue", "timeout"} }

// NATS is nats and vu.nats: request waits for a reply, and publish for what it says.
func NATS(under string, own []string, use request.Use) *language.Namespace {
	asks, publishes := under+".request", under+".publish"
	members := starlark.StringDict{
		"request": &guard.Func{Word: "request", Call: func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			in := arguments{fn: asks, names: append(NATSArguments(false), own...)}
			if err := in.bind(args, kwargs, 3); err != nil {
				return nil, err
			}
			return in.message(thread, request.NATSRequest, use)
		}},
		"publish": &guard.Func{Word: "publish", Call: func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			in := arguments{fn: publishes, names: append(NATSArguments(true), own...)}
			if err := in.bind(args, kwargs, 3); err != nil {
				return nil, err
			}
			verb, err := in.verb()
			if err != nil {
				return nil, err
			}
			return in.message(thread, verb, use)
		}},
	}
	if under == "nats" {
		members["client"] = &guard.Func{Word: "client", Call: newNATSClient}
	}
	return language.NewNamespace(under, members)
}

// Subscribe is vu.nats.subscribe: it opens a session.
func Subscribe(fn string, own []string, use request.Use) *guard.Func {
	return &guard.Func{Word: "subscribe", Call: func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		in := arguments{fn: fn, names: append(SubscribeArguments(), own...)}
		if err := in.bind(args, kwargs, 2); err != nil {
			return nil, err
		}
		to, err := natsTarget(fn, in.of("target"))
		if err != nil {
			return nil, err
		}
		to.Verb = request.NATSSubscribe
		if to.Subject, err = in.word("subject", true); err != nil {
			return nil, err
		}
		if in.of("queue") != nil {
			if to.Queue, err = in.word("queue", false); err != nil {
				return nil, err
			}
		}
		r := &request.Request{Method: "SUBSCRIBE", URL: to.Target.URL(), Exchange: request.Exchange{NATS: &to}}
		return request.NewDraft(thread, fn).End(r, append([]starlark.Value{in.of("timeout"), nil}, in.own(own)...), use)
	}}
}

// arguments are those of a call, by name.
type arguments struct {
	fn    string
	names []string
	in    []starlark.Value
}

func (a *arguments) bind(args starlark.Tuple, kwargs []starlark.Tuple, positional int) error {
	a.in = make([]starlark.Value, len(a.names))
	return language.Bind(a.fn, a.names, positional, args, kwargs, a.in)
}

func (a *arguments) of(name string) starlark.Value { return a.in[slices.Index(a.names, name)] }

func (a *arguments) own(own []string) []starlark.Value { return a.in[len(a.in)-len(own):] }

// word reads a subject that no value changes. Wild: it may have wildcards.
func (a *arguments) word(name string, wild bool) (string, error) {
	v := a.of(name)
	text, ok := starlark.AsString(v)
	if !ok {
		return "", a.missing(name, v, `"orders.>"`)
	}
	return text, checkSubject(a.fn, name, text, wild)
}

func (a *arguments) missing(name string, v starlark.Value, example string) error {
	if v == nil {
		return language.Faultf("%s: the %s is missing", a.fn, name).Do("write %s(\"nats://host\", %s, ...)", a.fn, example)
	}
	return language.WrongType(a.fn, name, "a text", v)
}

// verb reads what ends a publication.
func (a *arguments) verb() (request.NATSVerb, error) {
	flush, err := builtin.Flag(a.fn, "flush", a.of("flush"), false)
	if err != nil {
		return 0, err
	}
	stream, err := builtin.Flag(a.fn, "stream", a.of("stream"), false)
	switch {
	case err != nil:
		return 0, err
	case flush && stream:
		return 0, language.Faultf("%s has flush and stream", a.fn).In("flush").Do("keep stream: what JetStream acknowledges, the server has")
	case !stream && a.of("id") != nil:
		return 0, language.Faultf("%s has an id, and only JetStream drops a second message with it", a.fn).In("id").Do("add stream = True, or take id out")
	case stream:
		return request.NATSStream, nil
	case flush:
		return request.NATSFlush, nil
	}
	return request.NATSPublish, nil
}

// message makes the request that sends a message.
func (a *arguments) message(thread *starlark.Thread, verb request.NATSVerb, use request.Use) (starlark.Value, error) {
	to, err := natsTarget(a.fn, a.of("target"))
	if err != nil {
		return nil, err
	}
	to.Verb = verb
	d := request.NewDraft(thread, a.fn)
	if a.of("subject") == nil {
		return nil, a.missing("subject", nil, `"orders.new", "data"`)
	}
	if to.Subject, err = d.Text("subject", a.of("subject")); err != nil {
		return nil, d.Explain(err)
	}
	if err := checkSubject(a.fn, "subject", d.Cut(to.Subject), false); err != nil {
		return nil, d.Explain(err)
	}
	if to.Data, err = a.data(d); err != nil {
		return nil, d.Explain(err)
	}
	if to.Headers, err = d.Fields("headers", a.of("headers")); err != nil {
		return nil, d.Explain(err)
	}
	if slices.Contains(a.names, "stamp") {
		if to.Stamp, err = a.stamp(to.Headers); err != nil {
			return nil, d.Explain(err)
		}
	}
	if slices.Contains(a.names, "id") && a.of("id") != nil {
		id := builtin.Pair{Name: idHeader}
		if id.Value, err = d.Text("id", a.of("id")); err != nil {
			return nil, d.Explain(err)
		}
		if id.Value == "" || strings.ContainsAny(id.Value, "\r\n\x00") {
			return nil, language.Faultf("%s: id is empty or has a line break in it", a.fn).In("id").Do("write id = \"order-${id}\"")
		}
		to.Headers = append(to.Headers, id)
	}
	method := map[request.NATSVerb]string{request.NATSRequest: "REQUEST"}[verb]
	if method == "" {
		method = "PUBLISH"
	}
	r := &request.Request{Method: method, URL: to.Target.URL(), Exchange: request.Exchange{NATS: &to}}
	return d.End(r, a.in[slices.Index(a.names, "timeout"):], use)
}

// stamp reads whether the message says when it was sent, beside its headers.
func (a *arguments) stamp(headers []builtin.Pair) (bool, error) {
	is, err := builtin.Flag(a.fn, "stamp", a.of("stamp"), false)
	if is && slices.ContainsFunc(headers, func(h builtin.Pair) bool { return h.Name == request.StampHeader }) {
		return false, language.Faultf("%s has stamp = True, and %s in headers, which the stamp is written to", a.fn, request.StampHeader).In("headers").Do("take it out of headers")
	}
	return is, err
}

// data reads what the message carries.
func (a *arguments) data(d *request.Draft) (text string, err error) {
	switch v := a.of("data").(type) {
	case nil:
		return "", nil
	case starlark.String, *secret.Text:
		text, err = d.Text("data", v)
	case starlark.Bytes:
		text = string(v)
	default:
		return "", language.WrongType(a.fn, "data", "a text or bytes", v).Do("for a dict or a list write json.encode(...)")
	}
	if len(text) > dataMost {
		return "", language.Faultf("%s: data has %d bytes, and takes 64 MiB at most", a.fn, len(text)).In("data").Do("send less")
	}
	return text, err
}
