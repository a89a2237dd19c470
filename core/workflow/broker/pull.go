package broker

import (
	"strings"
	"time"

	"go.starlark.net/starlark"

	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/request"
)

// PullArguments are those of vu.nats.pull.
func PullArguments() []string {
	return []string{"target", "stream", "consumer", "batch", "within", "timeout"}
}

// The bounds of a request for messages.
const (
	batchDefault  = 100
	batchMost     = 10_000
	withinDefault = 30 * time.Second
	withinLeast   = 100 * time.Millisecond // shorter ones would load the server with requests
	nameMost      = 255                    // bytes of a stream's name, or a consumer's, as JetStream has it
)

// Pull is vu.nats.pull: it opens a session that asks a consumer for messages.
func Pull(fn string, own []string, use request.Use) *guard.Func {
	return &guard.Func{Word: "pull", Call: func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		in := arguments{fn: fn, names: append(PullArguments(), own...)}
		if err := in.bind(args, kwargs, 3); err != nil {
			return nil, err
		}
		to, err := natsTarget(fn, in.of("target"))
		if err != nil {
			return nil, err
		}
		c := request.NATSConsumer{Batch: batchDefault, Within: withinDefault}
		if c.Stream, err = in.called("stream", "ORDERS"); err != nil {
			return nil, err
		}
		if c.Name, err = in.called("consumer", "workers"); err != nil {
			return nil, err
		}
		if v := in.of("batch"); v != nil {
			if c.Batch, err = language.Integer(fn, "batch", v, 1, batchMost); err != nil {
				return nil, err
			}
		}
		if v := in.of("within"); v != nil {
			if c.Within, err = language.Duration(fn, "within", v); err != nil {
				return nil, err
			}
			if c.Within < withinLeast {
				return nil, language.Faultf("%s: within is shorter than %v", fn, withinLeast).In("within").Do("write within = \"1s\": receive(timeout = ...) bounds how long a function waits")
			}
		}
		to.Verb, to.Pull = request.NATSPull, &c
		r := &request.Request{Method: "PULL", URL: to.Target.URL(), Exchange: request.Exchange{NATS: &to}}
		return request.NewDraft(thread, fn).End(r, append([]starlark.Value{in.of("timeout"), nil}, in.own(own)...), use)
	}}
}

// called reads the name of a stream or a consumer.
func (a *arguments) called(name, example string) (string, error) {
	v := a.of(name)
	text, ok := starlark.AsString(v)
	switch {
	case v == nil:
		return "", language.Faultf("%s: the %s is missing", a.fn, name).Do("write %s(\"nats://host\", stream = \"ORDERS\", consumer = \"workers\")", a.fn)
	case !ok:
		return "", language.WrongType(a.fn, name, "a text", v)
	case text == "" || len(text) > nameMost || strings.ContainsFunc(text, odd):
		return "", language.Faultf("%s: %s = %q is no name: it has 1 to %d bytes without blanks, dots, wildcards and slashes", a.fn, name, language.Clip(text, 60), nameMost).In(name).Do("write %s = %q", name, example)
	}
	return text, nil
}

// odd reports a letter that no stream's or consumer's name has.
func odd(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(".*>/\\", r) }
