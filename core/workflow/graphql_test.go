package workflow_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hyperscale/core/workflow"
	"hyperscale/core/workflow/extract"
	"hyperscale/core/workflow/request"
)

func TestGraphQLRequests(t *testing.T) {
	w := load(t, `
q = """
query User($id: ID!) { user(id: $id) { name } }
mutation Rename($id: ID!) { rename(id: $id) { name } }
"""
workflow(name = "w", steps = [
    step("first", graphql.query("http://h/graphql", query = q, operation = "User", variables = {"id": "a\"b"}, headers = {"X-Key": "k"})),
    step("short", graphql.query("http://h/graphql", query = "{ me { id } }", timeout = "1s"),
         extract = {"id": json_path("$.data.me.id")}),
    step("filled", graphql.query("http://h/graphql", query = "{ me { id } }", variables = {"id": "${id}"}), after = ["short"]),
])`)
	type sent struct{ Method, URL, Type, Body string }
	var got []sent
	for _, s := range w.Steps {
		r := s.Request.Filled([][]byte{[]byte("7\"")})
		got = append(got, sent{r.Method, r.URL, r.ContentType, string(r.Body)})
	}
	want := []sent{
		{"POST", "http://h/graphql", "application/json", `{"query":"\nquery User($id: ID!) { user(id: $id) { name } }\nmutation Rename($id: ID!) { rename(id: $id) { name } }\n","variables":{"id":"a\"b"},"operationName":"User"}`},
		{"POST", "http://h/graphql", "application/json", `{"query":"{ me { id } }"}`},
		{"POST", "http://h/graphql", "application/json", `{"query":"{ me { id } }","variables":{"id":"7\""}}`},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// A server reports errors under status 200: steps of both kinds fail by them.
func TestGraphQLAnswers(t *testing.T) {
	described := load(t, `workflow(name = "w", steps = [step("a", graphql.query("http://h/", query = "{ me { id } }"))])`)
	called := one(t, `return vu.graphql.query("http://h/", query = "{ me { id } }")`)
	for _, row := range []struct{ body, why string }{
		{`{"data": {"me": {"id": 1}}}`, ""},
		{`{"data": {"me": null}, "errors": null}`, ""},
		{`{"errors": [], "data": {}}`, ""},
		{` {"errors": [{"message": "Cannot query field \"x\"", "path": ["me"]}, {"message": "another"}]}`, `the answer has errors: Cannot query field "x"`},
		{`{"data": {"me": null}, "errors": [{"message": "forbidden"}]}`, "the answer has errors: forbidden"},
		{`{"errors": [{"code": 7}]}`, `the answer has errors: [{"code": 7}]`},
		{`<html>busy</html>`, "the answer is not GraphQL: <html>busy</html>"},
		{``, "the answer is not GraphQL: an empty body"},
	} {
		if got := described.Steps[0].Judge(&extract.View{Status: 200, Body: []byte(row.body)}); got != row.why {
			t.Errorf("%s: a request's answer: %q, want %q", row.body, got, row.why)
		}
		v := called.NewVU(1, 1, &fake{answer: func(*request.Request) *workflow.Response {
			return &workflow.Response{Status: 200, Body: []byte(row.body)}
		}})
		v.Begin()
		out := v.Call(0)
		want := workflow.Outcome{OK: row.why == "", Detail: row.why, Response: out.Response}
		if row.why != "" {
			want.Kind = "expect"
		}
		if out != want {
			t.Errorf("%s: a function's answer %+v, want %+v", row.body, out, want)
		}
	}
	if _, body := described.Steps[0].Reads(); !body {
		t.Error("the body of an answer is not kept")
	}
}
