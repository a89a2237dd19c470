package workflow

import (
	"errors"
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

// graphqlNamespace is graphql and vu.graphql: a query is a POST of JSON, whose answer is
// judged by what it says about errors too.
func graphqlNamespace(under string, use func(*starlark.Thread, *Request, *blanks) (starlark.Value, error)) *namespace {
	fn := under + ".query"
	names := []string{"url", "query", "variables", "operation", "headers", "params", "cookies", "auth", "timeout", "redirects"}
	return newNamespace(under, starlark.StringDict{
		"query": &guard{"query", func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			var own [10]starlark.Value
			if err := bind(fn, names, 1, args, kwargs, own[:]); err != nil {
				return nil, err
			}
			body, err := graphqlBody(fn, own[1], own[2], own[3], meterOf(thread).loader != nil)
			if err != nil {
				return nil, err
			}
			var in [argCount]starlark.Value
			in[argURL], in[argJSON] = own[0], body
			in[argHeaders], in[argParams], in[argCookies] = own[4], own[5], own[6]
			in[argAuth], in[argTimeout], in[argRedirects] = own[7], own[8], own[9]
			r, b, err := compose(thread, fn, "POST", &in)
			if err != nil {
				return nil, err
			}
			r.GraphQL = true
			return use(thread, r, b)
		}},
	})
}

// graphqlBody puts together what is sent: query, variables and operationName.
func graphqlBody(fn string, query, variables, operation starlark.Value, check bool) (starlark.Value, error) {
	text, ok := query.(starlark.String)
	switch {
	case query == nil:
		return nil, faultf("%s: the query is missing", fn).do("write query = \"{ name }\"")
	case !ok:
		return nil, wrongType(fn, "query", "a text", query)
	case len(text) > queryMax:
		return nil, faultf("%s: the query has %s, the limit is %s", fn, size(uint64(len(text))), size(queryMax)).in("query").do("pass data by variables = {...}")
	}
	var operations []string
	if check {
		var err error
		if operations, err = parseQuery(fn, string(text)); err != nil {
			return nil, err
		}
	}
	body := starlark.NewDict(3)
	_ = body.SetKey(starlark.String("query"), text) // a new dict takes every text
	if variables != nil {
		if _, ok := variables.(*starlark.Dict); !ok {
			return nil, wrongType(fn, "variables", "a dict such as {\"id\": 1}", variables)
		}
		_ = body.SetKey(starlark.String("variables"), variables)
	}
	if operation == nil {
		if len(operations) > 1 {
			return nil, faultf("%s: the query has %d operations, and operation does not say which", fn, len(operations)).in("query").do("write operation = %q", operations[0])
		}
		return body, nil
	}
	name, ok := operation.(starlark.String)
	if !ok {
		return nil, wrongType(fn, "operation", "a text", operation)
	}
	if check && !slices.Contains(operations, string(name)) {
		return nil, faultf("%s: the query has no operation %q", fn, clip(string(name), 40)).in("operation").meant(string(name), operations)
	}
	_ = body.SetKey(starlark.String("operationName"), name)
	return body, nil
}

// parseQuery finds mistakes in a query before it is sent a million times, and returns the
// names of its operations.
func parseQuery(fn, text string) ([]string, error) {
	document, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: text}, queryTokensMax)
	if err != nil {
		why := err.Error()
		var at *gqlerror.Error
		f := faultf("%s: the query is not GraphQL: %s", fn, clip(why, 120))
		if errors.As(err, &at) && len(at.Locations) > 0 {
			f = faultf("%s: the query is not GraphQL: line %d, column %d: %s", fn, at.Locations[0].Line, at.Locations[0].Column, clip(at.Message, 120))
		}
		return nil, f.in("query")
	}
	var names []string
	for _, o := range document.Operations {
		names = append(names, o.Name)
	}
	if len(names) == 0 {
		return nil, faultf("%s: the query has no operation", fn).in("query").do("write query = \"{ name }\"")
	}
	return names, nil
}

// graphqlExpect is what every answer to a query is held against: a server tells of errors
// under status 200.
func graphqlExpect() Expect {
	path := func(source string) jsonPath {
		p, err := parsePath("graphql", source)
		if err != nil {
			panic(err) // these two are right
		}
		return p
	}
	return Expect{kind: expectGraphQL, path: path("$.errors"), detail: path("$.errors[0].message")}
}

// graphqlFails tells what an answer says about errors.
func (e *Expect) graphqlFails(r *View) string {
	raw, why := e.path.find(r.Body)
	switch {
	case why != "" && !isObject(r.Body):
		return "the answer is not GraphQL: " + excerpt(r.Body)
	case why != "" || string(raw) == "null" || string(raw) == "[]":
		return ""
	}
	if text, why := e.detail.text(r); why == "" {
		return "the answer has errors: " + excerpt(text)
	}
	return "the answer has errors: " + excerpt(raw)
}

func isObject(body []byte) bool {
	at := skipSpace(body, 0)
	return at < len(body) && body[at] == '{'
}

// sendQueries is vu.graphql.
func sendQueries() *namespace {
	expect := graphqlExpect()
	return graphqlNamespace("vu.graphql", func(thread *starlark.Thread, r *Request, _ *blanks) (starlark.Value, error) {
		v := vuOf(thread)
		got := newResponse(v.client.Do(v.w.HTTP.Apply(r)))
		got.expect = &expect
		return got, nil
	})
}
