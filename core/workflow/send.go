package workflow

import (
	"time"

	"go.starlark.net/starlark"

	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/extract"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/request"
)

// sendNamespace is vu.http; under marked names it holds what else all virtual users share.
func sendNamespace() *language.Namespace {
	known := func(thread *starlark.Thread, method, url string) *request.Request {
		return vuOf(thread).client.Known(method, url)
	}
	members := request.Requester("vu.http", request.RequestArguments(), known, func(thread *starlark.Thread, r *request.Request, _ *request.Placeholders) (starlark.Value, error) {
		v := vuOf(thread)
		return newResponse(v.client.Do(v.w.HTTP.Apply(r))), nil
	})
	members[language.Mark+"graphql"] = sendQueries()
	members[language.Mark+"log"] = &guard.Func{Word: "log", Call: vuLog}
	members[language.Mark+"sleep"] = &guard.Func{Word: "sleep", Call: vuSleep}
	members[language.Mark+"random"] = builtin.Random()
	return language.NewNamespace("vu.http", members)
}

// logMax bounds one line of vu.log.
const logMax = 1000

func vuLog(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [1]starlark.Value
	if err := language.Bind("vu.log", []string{"text"}, 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	text, ok := starlark.AsString(in[0])
	if !ok && in[0] != nil {
		if _, err := guard.MeterOf(thread).Rendered(in[0]); err != nil {
			return nil, err
		}
		text = in[0].String()
	}
	vuOf(thread).client.Log(language.Clip(text, logMax))
	return starlark.None, nil
}

func vuSleep(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [1]starlark.Value
	if err := language.Bind("vu.sleep", []string{"duration"}, 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	if in[0] == nil {
		return nil, language.Faultf("vu.sleep: say how long: vu.sleep(\"250ms\")")
	}
	var d time.Duration
	d, err := language.Duration("vu.sleep", "duration", in[0])
	if err != nil {
		return nil, err
	}
	vuOf(thread).client.Sleep(d)
	return starlark.None, nil
}

// sendQueries is vu.graphql.
func sendQueries() *language.Namespace {
	expect := extract.GraphQLExpect()
	return request.GraphQL("vu.graphql", func(thread *starlark.Thread, r *request.Request, _ *request.Placeholders) (starlark.Value, error) {
		v := vuOf(thread)
		got := newResponse(v.client.Do(v.w.HTTP.Apply(r)))
		got.expect = &expect
		return got, nil
	})
}
