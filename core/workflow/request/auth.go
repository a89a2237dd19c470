package request

import (
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/secret"
	"strings"

	"go.starlark.net/starlark"
)

// authValue is the result of http.basic, http.bearer and http.digest.
type authValue struct {
	language.Opaque
	kind   string
	texts  [3]starlark.Value // user, password, token: a text or a secret
	shared *Auth             // the same, if none is secret
}

// newAuth binds texts that may be secret to their places in an authValue.
func newAuth(fn, kind string, names []string, places []int, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	in := make([]starlark.Value, len(names))
	if err := language.Bind(fn, names, len(names), args, kwargs, in); err != nil {
		return nil, err
	}
	a := &authValue{Opaque: language.Opaque{Kind: "auth"}, kind: kind}
	hidden := false
	for i, v := range in {
		switch v := v.(type) {
		case nil:
			return nil, language.Faultf("%s: %s is missing", fn, names[i])
		case starlark.String:
			if kind == "bearer" && strings.ContainsAny(string(v), "\r\n\x00") {
				return nil, language.Faultf("http.bearer: the token has a line break in it").In("token")
			}
		case *secret.Text:
			hidden = true
		default:
			return nil, language.WrongType(fn, names[i], "a text or a secret", v)
		}
		a.texts[places[i]] = in[i]
	}
	if !hidden {
		auth, err := a.auth()
		a.shared = &auth
		return a, err
	}
	return a, nil
}

// auth returns the credentials as a request has them.
func (a *authValue) auth() (Auth, error) {
	out := Auth{Kind: a.kind}
	for i, to := range []*string{&out.User, &out.Password, &out.Token} {
		if a.texts[i] == nil {
			continue
		}
		var err error
		if *to, _, err = sentText(a.texts[i]); err != nil {
			return out, err
		}
	}
	return out, nil
}

// sentText returns a text or a secret as a request has it; false: it is neither.
func sentText(v starlark.Value) (string, bool, error) {
	switch v := v.(type) {
	case starlark.String:
		return string(v), true, nil
	case *secret.Text:
		text, err := v.Sent()
		return text, true, err
	}
	return "", false, nil
}

// NewBasic is http.basic.
func NewBasic(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	return newAuth("http.basic", "basic", []string{"user", "password"}, []int{0, 1}, args, kwargs)
}

// NewDigest is http.digest.
func NewDigest(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	return newAuth("http.digest", digestKind, []string{"user", "password"}, []int{0, 1}, args, kwargs)
}

// NewBearer is http.bearer.
func NewBearer(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	return newAuth("http.bearer", "bearer", []string{"token"}, []int{2}, args, kwargs)
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
	case *secret.Text:
		part.hidden = data
	case *File:
		part.file, part.filename = data, data.Base()
	default:
		return nil, language.Faultf("http.part: data must be a text, bytes, a file or a secret").In("data")
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
