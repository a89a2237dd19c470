package request

import (
	"errors"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
	"go.starlark.net/starlark"
)

// queryMax bounds a GraphQL document: its parser recurses.
const (
	queryMax       = 64 << 10 // bytes
	queryTokensMax = 20_000
)

// GraphQL is graphql and vu.graphql: a query is a POST of JSON, whose answer is also judged by
// the errors that it reports.
func GraphQL(under string, own []string, use Use) *language.Namespace {
	fn := under + ".query"
	names := append([]string{"url", "query", "variables", "operation", "headers", "params", "cookies", "auth", "timeout", "redirects"}, own...)
	return language.NewNamespace(under, starlark.StringDict{
		"query": &guard.Func{Word: "query", Call: func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			var given [10 + ownMax]starlark.Value
			if err := language.Bind(fn, names, 1, args, kwargs, given[:]); err != nil {
				return nil, err
			}
			body, err := graphqlBody(fn, given[1], given[2], given[3], wordsOf(thread) != nil)
			if err != nil {
				return nil, err
			}
			var in [argCount]starlark.Value
			in[argURL], in[argJSON] = given[0], body
			in[argHeaders], in[argParams], in[argCookies] = given[4], given[5], given[6]
			in[argAuth], in[argTimeout], in[argRedirects] = given[7], given[8], given[9]
			r, b, err := compose(thread, fn, "POST", &in)
			if err != nil {
				return nil, err
			}
			r.GraphQL = true
			return use(thread, r, b, given[10:len(names)])
		}},
	})
}

// graphqlBody builds the body: query, variables and operationName.
func graphqlBody(fn string, query, variables, operation starlark.Value, check bool) (starlark.Value, error) {
	text, ok := query.(starlark.String)
	switch {
	case query == nil:
		return nil, language.Faultf("%s: the query is missing", fn).Do("write query = \"{ name }\"")
	case !ok:
		return nil, language.WrongType(fn, "query", "a text", query)
	case len(text) > queryMax:
		return nil, language.Faultf("%s: the query has %s, the limit is %s", fn, guard.Size(uint64(len(text))), guard.Size(queryMax)).In("query").Do("pass data by variables = {...}")
	}
	var operations []string
	if check {
		var err error
		if operations, err = parseQuery(fn, string(text)); err != nil {
			return nil, err
		}
	}
	body := starlark.NewDict(3)
	_ = body.SetKey(starlark.String("query"), text) // a new dict accepts every text
	if variables != nil {
		if _, ok := variables.(*starlark.Dict); !ok {
			return nil, language.WrongType(fn, "variables", "a dict such as {\"id\": 1}", variables)
		}
		_ = body.SetKey(starlark.String("variables"), variables)
	}
	if operation == nil {
		if len(operations) > 1 {
			return nil, language.Faultf("%s: the query has %d operations, and operation does not say which", fn, len(operations)).In("query").Do("write operation = %q", operations[0])
		}
		return body, nil
	}
	name, ok := operation.(starlark.String)
	if !ok {
		return nil, language.WrongType(fn, "operation", "a text", operation)
	}
	if check && !slices.Contains(operations, string(name)) {
		return nil, language.Faultf("%s: the query has no operation %q", fn, language.Clip(string(name), 40)).In("operation").Meant(string(name), operations)
	}
	_ = body.SetKey(starlark.String("operationName"), name)
	return body, nil
}

// parseQuery finds errors in a query before it is sent a million times, and returns the names
// of its operations.
func parseQuery(fn, text string) ([]string, error) {
	document, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: text}, queryTokensMax)
	if err != nil {
		why := err.Error()
		var at *gqlerror.Error
		f := language.Faultf("%s: the query is not GraphQL: %s", fn, language.Clip(why, 120))
		if errors.As(err, &at) && len(at.Locations) > 0 {
			f = language.Faultf("%s: the query is not GraphQL: line %d, column %d: %s", fn, at.Locations[0].Line, at.Locations[0].Column, language.Clip(at.Message, 120))
		}
		return nil, f.In("query")
	}
	var names []string
	for _, o := range document.Operations {
		names = append(names, o.Name)
	}
	if len(names) == 0 {
		return nil, language.Faultf("%s: the query has no operation", fn).In("query").Do("write query = \"{ name }\"")
	}
	return names, nil
}
