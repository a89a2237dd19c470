package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// judge holds an answer against the description that the server gives of itself: path, method, status, type and body.
func (s *server) judge(method, path string, w *http.Response, body []byte) {
	s.t.Helper()
	path, _, _ = strings.Cut(path, "?")
	operation := s.operation(method, path)
	if operation == nil { // the description lacks it: so must the server
		require.Contains(s.t, []int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusMisdirectedRequest}, w.StatusCode, "%s %s", method, path)
		s.fits(s.schema["components"].(map[string]any)["schemas"].(map[string]any)["Failure"], body)
		return
	}
	responses := operation["responses"].(map[string]any)
	response, has := responses[strconv.Itoa(w.StatusCode)].(map[string]any)
	if !has {
		require.GreaterOrEqual(s.t, w.StatusCode, 400, "%s %s answers %d, which is not described", method, path, w.StatusCode)
		response = responses["default"].(map[string]any)
	}
	content, _ := response["content"].(map[string]any)
	if content == nil {
		require.Empty(s.t, body, "%s %s", method, path)
		return
	}
	kind, _, _ := strings.Cut(w.Header.Get("Content-Type"), ";")
	of, has := content[kind].(map[string]any)
	require.True(s.t, has, "%s %s answers %q, described are %v", method, path, kind, content)
	if kind == "application/json" {
		s.fits(of["schema"], body)
	}
}

// operation finds a route of the description by a path; nil: there is none.
func (s *server) operation(method, path string) map[string]any {
	got := strings.Split(path, "/")
	for template, methods := range s.schema["paths"].(map[string]any) {
		want := strings.Split(template, "/")
		fits := len(want) == len(got)
		for i := 0; fits && i < len(want); i++ {
			fits = want[i] == got[i] || strings.HasPrefix(want[i], "{")
		}
		if operation, has := methods.(map[string]any)[strings.ToLower(method)].(map[string]any); fits && has {
			return operation
		}
	}
	return nil
}

func (s *server) fits(schema any, body []byte) {
	s.t.Helper()
	var v any
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.UseNumber()
	require.NoError(s.t, d.Decode(&v), "%s", body)
	require.NoError(s.t, s.check("body", schema.(map[string]any), v), "%s", body)
}

// check says where a value differs from its schema. A property that is not described is a fault, too.
func (s *server) check(at string, schema map[string]any, v any) error {
	if ref, is := schema["$ref"].(string); is {
		all := s.schema["components"].(map[string]any)["schemas"].(map[string]any)
		return s.check(at, all[strings.TrimPrefix(ref, "#/components/schemas/")].(map[string]any), v)
	}
	if v == nil {
		if schema["nullable"] == true {
			return nil
		}
		return fmt.Errorf("%s is null", at)
	}
	if all, is := schema["allOf"].([]any); is {
		return s.check(at, all[0].(map[string]any), v)
	}
	switch schema["type"] {
	case "string":
		if _, is := v.(string); !is {
			return fmt.Errorf("%s = %v is no string", at, v)
		}
	case "boolean":
		if _, is := v.(bool); !is {
			return fmt.Errorf("%s = %v is no boolean", at, v)
		}
	case "integer", "number":
		n, is := v.(json.Number)
		if !is || schema["type"] == "integer" && strings.ContainsAny(n.String(), ".eE") || schema["minimum"] != nil && n.String()[0] == '-' {
			return fmt.Errorf("%s = %v is no %v", at, v, schema)
		}
	case "array":
		list, is := v.([]any)
		if !is {
			return fmt.Errorf("%s = %v is no array", at, v)
		}
		for i, one := range list {
			if err := s.check(fmt.Sprintf("%s[%d]", at, i), schema["items"].(map[string]any), one); err != nil {
				return err
			}
		}
	case "object":
		return s.checkObject(at, schema, v)
	default:
		return fmt.Errorf("%s has a schema without a type: %v", at, schema)
	}
	return nil
}

func (s *server) checkObject(at string, schema map[string]any, v any) error {
	o, is := v.(map[string]any)
	if !is {
		return fmt.Errorf("%s = %v is no object", at, v)
	}
	required, _ := schema["required"].([]any)
	for _, name := range required {
		if _, has := o[name.(string)]; !has {
			return fmt.Errorf("%s lacks %v", at, name)
		}
	}
	properties, described := schema["properties"].(map[string]any)
	more, free := schema["additionalProperties"].(map[string]any)
	for name, one := range o {
		of, has := properties[name].(map[string]any)
		switch {
		case has:
		case free:
			of = more
		case !described:
			continue
		default:
			return fmt.Errorf("%s.%s is not described", at, name)
		}
		if err := s.check(at+"."+name, of, one); err != nil {
			return err
		}
	}
	return nil
}

// TestDescriptionIsServed: it names each route and its role, and refers to nothing that it lacks.
func TestDescriptionIsServed(t *testing.T) {
	s := start(t)
	got := s.call(node.RightView, http.MethodGet, "/v1/openapi.json", "")
	require.Equal(t, http.StatusOK, got.status)
	want, err := encode(Describe())
	require.NoError(t, err)
	require.JSONEq(t, string(want), string(got.body))
	for _, r := range routes() {
		path := s.schema["paths"].(map[string]any)[r.Path].(map[string]any)
		require.Contains(t, path, strings.ToLower(r.Method), r.Path)
	}
	schemas := s.schema["components"].(map[string]any)["schemas"].(map[string]any)
	for _, part := range strings.Split(string(want), `"$ref":"#/components/schemas/`)[1:] {
		name, _, _ := strings.Cut(part, `"`)
		require.Contains(t, schemas, name)
	}
}

// TestEveryCodeHasAMeaning: each rejection of the gates has a status and a name of its own.
func TestEveryCodeHasAMeaning(t *testing.T) {
	names := map[string]message.Code{}
	for c := message.CodeStaleFence; c <= message.CodeUnknownSink; c++ {
		m := meanings(c)
		require.Contains(t, []int{403, 404, 409, 410, 413, 422, 429, 500, 501, 503}, m.status, c.String())
		require.NotContains(t, names, m.name, c.String())
		names[m.name] = c
		if c.Retryable() {
			require.Contains(t, []int{429, 503}, m.status, c.String())
		}
	}
}
