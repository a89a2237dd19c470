package custom

import (
	"slices"

	"go.starlark.net/starlark"

	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/request"
)

// nameMost bounds the name of a call, in bytes.
const nameMost = 256

// CallArguments are those of custom.call.
func CallArguments() []string { return []string{"client", "call", "args", "timeout", "retry"} }

// Namespace is custom and vu.custom. Client is the word custom.client; nil: it has none.
func Namespace(under string, own []string, use request.Use, client starlark.Value) *language.Namespace {
	fn := under + ".call"
	members := starlark.StringDict{"call": &guard.Func{Word: "call", Call: func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		names := append(CallArguments(), own...)
		in := make([]starlark.Value, len(names))
		if err := language.Bind(fn, names, 3, args, kwargs, in); err != nil {
			return nil, err
		}
		return call(thread, fn, in, use)
	}}}
	if client != nil {
		members["client"] = client
	}
	return language.NewNamespace(under, members)
}

// call makes the request of a call.
func call(thread *starlark.Thread, fn string, in []starlark.Value, use request.Use) (starlark.Value, error) {
	c, ok := in[0].(*clientValue)
	switch {
	case in[0] == nil:
		return nil, language.Faultf("%s: the client is missing", fn).Do("write old = custom.client([\"bin/legacy\"]), and %s(old, \"book\", {...})", fn)
	case !ok:
		return nil, language.WrongType(fn, "client", "the result of custom.client", in[0]).Do("write old = custom.client([\"bin/legacy\"]) above, and %s(old, \"book\", {...})", fn)
	case in[1] == nil:
		return nil, language.Faultf("%s: the call is missing", fn).Do("write %s(client, \"book\", {...})", fn)
	}
	to := c.of
	if to.Call, ok = starlark.AsString(in[1]); !ok {
		return nil, language.WrongType(fn, "call", "a text", in[1])
	}
	if to.Call == "" || len(to.Call) > nameMost {
		return nil, language.Faultf("%s: call has %d bytes, and takes 1 to %d", fn, len(to.Call), nameMost).In("call").Do("name what the program does: \"book\"")
	}
	d := request.NewDraft(thread, fn)
	if err := d.Fixed("call", "the name of a call", to.Call, "give it to args"); err != nil {
		return nil, err
	}
	args := in[2]
	switch args.(type) {
	case nil:
		args = starlark.NewDict(0)
	case *starlark.Dict:
	default:
		return nil, language.WrongType(fn, "args", "a dict", args).Do("write %s(client, %q, {\"id\": 17})", fn, language.Clip(to.Call, 40))
	}
	r := &request.Request{Method: "CALL", URL: to.URL(), Exchange: request.Exchange{Custom: &to}}
	if err := d.JSON(r, "args", args); err != nil {
		return nil, d.Explain(err)
	}
	return d.End(r, in[slices.Index(CallArguments(), "timeout"):], use)
}
