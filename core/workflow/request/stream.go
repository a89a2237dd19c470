package request

import (
	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"slices"
	"strings"
	"time"

	"go.starlark.net/starlark"
)

// Stream says how far an answer of server-sent events is read. Without Events, Until and Within it
// is read until its server ends it.
type Stream struct {
	Events int           // it is read after so many; 0: no such bound
	Until  Ending        // or with the first event for which this holds; nil: none
	Within time.Duration // without both, it is read for so long; 0: to its end
}

// Ending is a condition on the data of an event, or a message.
type Ending interface {
	Holds(data []byte) bool
}

// streamEventsMax bounds the events that a request asks for.
const streamEventsMax = 1_000_000_000

// StreamArguments are those of sse.read beside the request's.
func StreamArguments() []string { return []string{"method", "events", "until", "within"} }

// SSE is sse and vu.sse: read is a request whose answer is a stream of events. until makes the
// condition of its argument.
func SSE(under string, own []string, until func(fn string, v starlark.Value) (Ending, error), use Use) *language.Namespace {
	fn := under + ".read"
	names := slices.Concat(RequestArguments(), StreamArguments(), own)
	return language.NewNamespace(under, starlark.StringDict{
		"read": &guard.Func{Word: "read", Call: func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			const asked = argCount + 4
			var in [asked + ownMax]starlark.Value
			if err := language.Bind(fn, names, 1, args, kwargs, in[:]); err != nil {
				return nil, err
			}
			method, err := streamMethod(fn, in[argCount])
			if err != nil {
				return nil, err
			}
			s, err := readStream(fn, in[argTimeout], in[argCount+1:asked], until)
			if err != nil {
				return nil, err
			}
			if in[argTimeout] == nil {
				in[argTimeout] = in[asked-1] // within bounds the whole
			}
			r, b, err := compose(thread, fn, method, (*[argCount]starlark.Value)(in[:argCount]))
			if err != nil {
				return nil, err
			}
			r.streams(s)
			return use(thread, r, b, in[asked:len(names)])
		}},
	})
}

// streams makes the answer to a request a stream.
func (r *Request) streams(s *Stream) {
	r.Stream = s
	if !slices.ContainsFunc(r.Headers, func(h builtin.Pair) bool { return strings.EqualFold(h.Name, "Accept") }) {
		r.Headers = append(slices.Clip(r.Headers), builtin.Pair{Name: "Accept", Value: "text/event-stream"})
	}
}

// OpenStream is vu.sse.open, which takes what vu.sse.read takes but how far to read, and no retry.
func OpenStream(under string, own []string, use Use) *guard.Func {
	fn := under + ".open"
	request := slices.DeleteFunc(RequestArguments(), func(name string) bool { return name == "retry" })
	names := slices.Concat(request, []string{"method"}, own)
	return &guard.Func{Word: "open", Call: func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		given := make([]starlark.Value, len(names))
		if err := language.Bind(fn, names, 1, args, kwargs, given); err != nil {
			return nil, err
		}
		var in [argCount]starlark.Value
		for i, name := range RequestArguments() {
			if at := slices.Index(request, name); at >= 0 {
				in[i] = given[at]
			}
		}
		method, err := streamMethod(fn, given[len(request)])
		if err != nil {
			return nil, err
		}
		r, b, err := compose(thread, fn, method, &in)
		if err != nil {
			return nil, err
		}
		r.streams(&Stream{})
		return use(thread, r, b, given[len(request)+1:])
	}}
}

func streamMethod(fn string, v starlark.Value) (string, error) {
	if v == nil {
		return "GET", nil
	}
	method, ok := v.(starlark.String)
	switch {
	case !ok || !language.IsToken(string(method)) || len(method) > 32:
		return "", language.Faultf("%s: method must be a text such as \"POST\"", fn).In("method")
	case method == "HEAD":
		return "", language.Faultf("%s: an answer to HEAD has no body, and so no events", fn).In("method").Do("write method = \"GET\", or use http.head")
	}
	return string(method), nil
}

// readStream reads events, until and within.
func readStream(fn string, timeout starlark.Value, in []starlark.Value, until func(string, starlark.Value) (Ending, error)) (s *Stream, err error) {
	s = new(Stream)
	if in[0] != nil {
		if s.Events, err = language.Integer(fn, "events", in[0], 1, streamEventsMax); err != nil {
			return nil, err
		}
	}
	if in[1] != nil {
		if s.Until, err = until(fn, in[1]); err != nil {
			return nil, err
		}
	}
	if in[2] == nil {
		return s, nil
	}
	if timeout != nil {
		return nil, language.Faultf("%s has both timeout and within", fn).In("within").Do("keep within: it bounds the whole answer, as timeout does")
	}
	d, err := language.Duration(fn, "within", in[2])
	if err == nil && s.Events == 0 && s.Until == nil {
		s.Within = d
	}
	return s, err
}
