package request

import (
	"hyperscale/core/workflow/language"
	"strings"

	"go.starlark.net/starlark"
)

// NewBasic is http.basic.
func NewBasic(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [2]string
	if err := language.Texts("http.basic", []string{"user", "password"}, 2, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	return &authValue{language.Opaque{Kind: "auth"}, Auth{Kind: "basic", User: in[0], Password: in[1]}}, nil
}

// NewBearer is http.bearer.
func NewBearer(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [1]string
	if err := language.Texts("http.bearer", []string{"token"}, 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	if strings.ContainsAny(in[0], "\r\n\x00") {
		return nil, language.Faultf("http.bearer: the token has a line break in it").In("token")
	}
	return &authValue{language.Opaque{Kind: "auth"}, Auth{Kind: "bearer", Token: in[0]}}, nil
}

// NewPart is http.part.
func NewPart(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [3]starlark.Value
	names := []string{"data", "filename", "type"}
	if err := language.Bind("http.part", names, 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	part := &partValue{Opaque: language.Opaque{Kind: "part"}, filename: "file", kind: "application/octet-stream"}
	switch data := in[0].(type) {
	case starlark.String:
		part.data, part.text = []byte(data), true
	case starlark.Bytes:
		part.data = []byte(data)
	default:
		return nil, language.Faultf("http.part: data must be a text or bytes").In("data")
	}
	for i, to := range []*string{&part.filename, &part.kind} {
		if in[i+1] == nil {
			continue
		}
		s, ok := in[i+1].(starlark.String)
		if !ok || strings.ContainsAny(string(s), "\r\n") {
			return nil, language.Faultf("http.part: %s must be a text in one line", names[i+1]).In(names[i+1])
		}
		*to = string(s)
	}
	return part, nil
}
