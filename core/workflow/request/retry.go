package request

import (
	"slices"
	"time"

	"go.starlark.net/starlark"

	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
)

// Retry says when a request is sent again, each time as a request of its own.
type Retry struct {
	Times    int           // again, at most
	Wait     time.Duration // between the end of one and the begin of the next
	kinds    []string      // of failures
	statuses []int
}

const (
	retriesMax      = 100
	retryStatusKind = "status" // any status that is a failure
)

// RetryWords lists what on may name, beside statuses.
func RetryWords() []string {
	return []string{"connect", "timeout", "closed", retryStatusKind, "expect"}
}

// kindsOf lists the kinds of failures that a word stands for.
func kindsOf(word string) []string {
	switch word {
	case "connect":
		return []string{"refused", "connect_timeout", "unreachable", "dns", "tls", "tls_alert", "tls_authority", "tls_name", "tls_expired", "proxy"}
	case "timeout":
		return []string{"timeout", "write_timeout", "lost"}
	case "closed":
		return []string{"closed", "reset", "truncated", "refused_stream", "goaway", "stream_reset"}
	}
	return []string{word}
}

// Again reports whether to send a request again that has failed. Kind is empty if its status
// alone is the failure.
func (r *Retry) Again(kind string, status int) bool {
	if kind == "" {
		kind = retryStatusKind
	}
	return slices.Contains(r.kinds, kind) || kind == retryStatusKind && slices.Contains(r.statuses, status)
}

type retryValue struct {
	language.Opaque
	retry Retry
}

// retryOf reads a request's retry; nil: it has none.
func retryOf(fn string, v starlark.Value) (*Retry, error) {
	if v == nil {
		return nil, nil
	}
	r, ok := v.(*retryValue)
	if !ok {
		return nil, language.WrongType(fn, "retry", "retry(3)", v).Do("write retry = retry(3, on = [\"connect\", 503])")
	}
	return &r.retry, nil
}

// NewRetry returns the function retry.
func NewRetry() starlark.Value {
	const fn = "retry"
	return &guard.Func{Word: fn, Call: func(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		var in [3]starlark.Value
		if err := language.Bind(fn, []string{"times", "on", "wait"}, 1, args, kwargs, in[:]); err != nil {
			return nil, err
		}
		if in[0] == nil {
			return nil, language.Faultf("%s: say how many times: retry(3)", fn)
		}
		v := &retryValue{Opaque: language.Opaque{Kind: fn}}
		var err error
		if v.retry.Times, err = language.Integer(fn, "times", in[0], 1, retriesMax); err != nil {
			return nil, err
		}
		if in[2] != nil {
			if v.retry.Wait, err = language.Duration(fn, "wait", in[2]); err != nil {
				return nil, err
			}
		}
		return v, v.retry.reads(fn, in[1])
	}}
}

// reads reads on; without it any failure to get an answer counts.
func (r *Retry) reads(fn string, on starlark.Value) error {
	words := RetryWords()
	if on == nil {
		for _, word := range words[:3] {
			r.kinds = append(r.kinds, kindsOf(word)...)
		}
		return nil
	}
	values, err := language.List(fn, "on", "failures", on)
	if err != nil {
		return err
	}
	if len(values) == 0 {
		return language.Faultf("%s: on is empty, no request would be sent again", fn).In("on").Do("write on = [\"connect\", 503]")
	}
	for i, v := range values {
		switch v := v.(type) {
		case starlark.Int:
			n, ok := v.Int64()
			if !ok || n < 100 || n > 599 {
				return language.Faultf("%s: on has %s in it, which is no status", fn, language.Describe(v)).In("on").At(i).Do("write a status from 100 to 599, such as 503")
			}
			r.statuses = append(r.statuses, int(n))
		case starlark.String:
			if !slices.Contains(words, string(v)) {
				return language.Faultf("%s: on has %s in it", fn, language.Describe(v)).In("on").At(i).Meant(string(v), words)
			}
			r.kinds = append(r.kinds, kindsOf(string(v))...)
		default:
			return language.Faultf("%s: on has %s in it", fn, language.Describe(v)).In("on").At(i).Do("write on = [\"connect\", 503]")
		}
	}
	return nil
}
