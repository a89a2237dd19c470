package builtin

import (
	"slices"
	"time"

	"go.starlark.net/starlark"

	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/secret"
	"hyperscale/core/workflow/signing"
)

// keyValue is the result of jwt.key: a parsed key. That of a secret is parsed once its value is
// known.
type keyValue struct {
	language.Opaque
	key  *signing.Key
	text *secret.Text // nil: it is not secret
}

// Open implements secret.Opener.
func (k *keyValue) Open() error {
	text, err := k.text.Value()
	if err != nil {
		return err
	}
	if k.key, err = signing.ParseKey([]byte(text)); err != nil {
		return language.Faultf("jwt.key: the secret is no key: %v", err)
	}
	return nil
}

// tokenOf is a token that a secret signs.
type tokenOf struct {
	algorithm      string
	key            *keyValue
	header, claims []byte
}

// Derive implements secret.Derivation.
func (t tokenOf) Derive() (string, error) {
	if t.key.key == nil {
		if err := t.key.Open(); err != nil {
			return "", err
		}
	}
	token, err := signing.JWT(t.algorithm, t.key.key, t.header, t.claims)
	if err != nil {
		return "", language.Faultf("jwt.sign: %v", err)
	}
	return token, nil
}

// signMax bounds a token's claims and a key.
const signMax = 64 << 10

// JWT is the module jwt.
func JWT() *language.Namespace {
	return language.NewNamespace("jwt", starlark.StringDict{
		"key": function("jwt.key", "key", []string{"text"}, 1, 1, func(thread *starlark.Thread, in []starlark.Value) (starlark.Value, error) {
			k, err := readKey(thread, "jwt.key", "text", in[0])
			if err != nil {
				return nil, err
			}
			return k, nil
		}),
		"sign": function("jwt.sign", "sign", []string{"claims", "key", "algorithm", "headers"}, 2, 2, jwtSign),
	})
}

// readKey parses a key, which takes longer than signing with it.
func readKey(thread *starlark.Thread, fn, argument string, v starlark.Value) (*keyValue, error) {
	if k, ok := v.(*keyValue); ok {
		return k, nil
	}
	if t, ok := v.(*secret.Text); ok {
		k := &keyValue{Opaque: language.Opaque{Kind: "key"}, text: t}
		if err := t.Await(k); err != nil {
			return nil, err
		}
		return k, worked(thread, fn, signMax, signMax)
	}
	text, err := Content(fn, argument, v, signMax)
	if err != nil {
		return nil, err
	}
	if err := worked(thread, fn, len(text), len(text)); err != nil {
		return nil, err
	}
	k, err := signing.ParseKey([]byte(text))
	if err != nil {
		return nil, language.Faultf("%s: %v", fn, err).In(argument)
	}
	thread.Steps += 2 * k.Work()
	return &keyValue{Opaque: language.Opaque{Kind: "key"}, key: k}, nil
}

func jwtSign(thread *starlark.Thread, in []starlark.Value) (starlark.Value, error) {
	claims, ok := in[0].(*starlark.Dict)
	if !ok {
		return nil, language.WrongType("jwt.sign", "claims", "a dict such as {\"sub\": \"ann\"}", in[0])
	}
	algorithm, err := OneOf("jwt.sign", "algorithm", in[2], signing.Algorithms())
	if err != nil {
		return nil, err
	}
	key, err := readKey(thread, "jwt.sign", "key", in[1])
	if err != nil {
		return nil, err
	}
	header := starlark.NewDict(4)
	_ = header.SetKey(starlark.String("alg"), starlark.String(algorithm)) // texts are valid keys
	_ = header.SetKey(starlark.String("typ"), starlark.String("JWT"))
	if in[3] != nil {
		more, ok := in[3].(*starlark.Dict)
		if !ok {
			return nil, language.WrongType("jwt.sign", "headers", "a dict such as {\"kid\": \"1\"}", in[3])
		}
		for _, kv := range more.Items() {
			if err := header.SetKey(kv[0], kv[1]); err != nil {
				return nil, err
			}
		}
	}
	var parts [2][]byte
	for i, d := range []*starlark.Dict{header, claims} {
		if parts[i], err = EncodeJSON(thread, d); err != nil {
			return nil, err
		}
		if len(parts[i]) > signMax {
			return nil, language.Faultf("jwt.sign: the token has %s, the limit is %s", guard.Size(uint64(len(parts[i]))), guard.Size(signMax))
		}
	}
	if key.key != nil {
		thread.Steps += key.key.Work()
	}
	if key.text != nil {
		token, err := key.text.Derive(tokenOf{algorithm, key, parts[0], parts[1]})
		if err != nil {
			return nil, err
		}
		return token, guard.MeterOf(thread).Text(thread, "jwt.sign", len(parts[0])+len(parts[1]))
	}
	token, err := signing.JWT(algorithm, key.key, parts[0], parts[1])
	if err != nil {
		return nil, language.Faultf("jwt.sign: %v", err).In("key")
	}
	return starlark.String(token), guard.MeterOf(thread).Text(thread, "jwt.sign", len(token))
}

const (
	awsMethod = iota
	awsURL
	awsRegion
	awsService
	awsAccess
	awsSecret
	awsToken
	awsHeaders
	awsBody
	awsUnsigned
	awsTime
)

// AWSSign is aws.sign: it returns the given headers and those that the signature adds.
func AWSSign() *guard.Func {
	names := []string{"method", "url", "region", "service", "access_key", "secret_key", "session_token", "headers", "body", "unsigned_body", "time"}
	return function("aws.sign", "sign", names, 2, 6, func(thread *starlark.Thread, in []starlark.Value) (starlark.Value, error) {
		a := signing.AWS{}
		for i, to := range []*string{&a.Method, &a.URL, &a.Region, &a.Service, &a.AccessKey, &a.Secret, &a.SessionToken} {
			if in[i] == nil {
				continue
			}
			s, err := signed(thread, names[i], in[i])
			if err != nil {
				return nil, err
			}
			*to = s
		}
		var err error
		given, err := Pairs("aws.sign", "headers", in[awsHeaders])
		if err != nil {
			return nil, err
		}
		for _, p := range given {
			a.Headers = append(a.Headers, signing.Pair(p))
		}
		if in[awsBody] != nil {
			body, err := Content("aws.sign", "body", in[awsBody], guard.MeterOf(thread).Limits.ValueBytes)
			if err != nil {
				return nil, err
			}
			a.Body = []byte(body)
		}
		if a.Unsigned, err = Flag("aws.sign", "unsigned_body", in[awsUnsigned], false); err != nil {
			return nil, err
		}
		if a.Time, err = signedAt(thread, in[awsTime]); err != nil {
			return nil, err
		}
		if err := worked(thread, "aws.sign", len(a.Body)+8*len(a.URL), 2048); err != nil {
			return nil, err
		}
		added, err := a.Sign()
		if err != nil {
			return nil, language.Faultf("aws.sign: %v", err)
		}
		out := starlark.NewDict(len(a.Headers) + len(added))
		for _, p := range slices.Concat(a.Headers, added) {
			v := starlark.Value(starlark.String(p.Value))
			if t, ok := in[awsToken].(*secret.Text); ok && p.Value == a.SessionToken {
				v = t
			}
			_ = out.SetKey(starlark.String(p.Name), v) // texts are valid keys
		}
		return out, nil
	})
}

// signed reads a text that aws.sign signs, or signs with. Of a secret only the keys can be one:
// the others are part of what it returns, or a body.
func signed(thread *starlark.Thread, name string, v starlark.Value) (string, error) {
	t, ok := v.(*secret.Text)
	if !ok {
		return Content("aws.sign", name, v, signMax)
	}
	if name != "secret_key" && name != "session_token" {
		return "", language.Faultf("aws.sign: %s cannot be a secret", name).In(name).Do("only secret_key and session_token can")
	}
	if err := worked(thread, "aws.sign", t.Size(), t.Size()); err != nil {
		return "", err
	}
	return t.Value()
}

// signedAt returns the time to sign: the engine's, unless one is given.
func signedAt(thread *starlark.Thread, v starlark.Value) (time.Time, error) {
	if at, ok := v.(Time); ok {
		return at.utc(), nil
	}
	if v != nil {
		return time.Time{}, language.WrongType("aws.sign", "time", "what time.now() returns", v)
	}
	u := guard.CallerOf(thread)
	if u == nil {
		return time.Time{}, language.Faultf("aws.sign signs the time, and there is no clock while a file is loaded").Do("call it in a step's function, or give time = time.parse(\"...\")")
	}
	return u.Now().UTC(), nil
}
