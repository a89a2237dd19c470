package mongodb

import (
	"strings"

	"go.starlark.net/starlark"

	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/request"
	"hyperscale/core/workflow/secret"
)

// ClientArguments are those of mongodb.client.
func ClientArguments() []string {
	return []string{"url", "user", "password", "auth_source", "mechanism", "tls", "connections"}
}

// client is the result of mongodb.client.
type client struct {
	language.Opaque
	of             request.MongoDB
	user, password starlark.Value // texts or secrets; nil: they are in of
	key            *secret.Text   // of tls; nil: it is in of
}

// fill puts in what proves the user: a function's secrets have values.
func (c *client) fill(to *request.MongoDB) (err error) {
	if c.user != nil {
		if to.User, _, err = request.SentText(c.user); err != nil {
			return err
		}
	}
	if c.password != nil {
		if to.Password, _, err = request.SentText(c.password); err != nil {
			return err
		}
	}
	return to.Secure.SentKey(c.key)
}

// Shared implements request.Sharer.
func (c *client) Shared() *request.Target { return c.of.Target.IfShared() }

// newClient is mongodb.client.
func newClient(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	const fn = "mongodb.client"
	var in [7]starlark.Value
	if err := language.Bind(fn, ClientArguments(), 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	c := &client{Opaque: language.Opaque{Kind: fn}, user: in[1], password: in[2]}
	var err error
	if c.of, err = address(fn, in[0]); err != nil {
		return nil, err
	}
	if err := c.proven(fn); err != nil {
		return nil, err
	}
	if in[3] != nil {
		source, ok := starlark.AsString(in[3])
		switch {
		case !ok:
			return nil, language.WrongType(fn, "auth_source", "a text", in[3])
		case c.of.Source != "":
			return nil, language.Faultf("%s has authSource in its URL and auth_source", fn).In("auth_source").Do("keep one of them")
		case source == "" || strings.ContainsAny(source, "\x00. "):
			return nil, language.Faultf("%s: auth_source = %q is no name of a database", fn, language.Clip(source, 40)).In("auth_source").Do("write auth_source = \"admin\"")
		}
		c.of.Source = source
	}
	if in[4] != nil {
		if c.of.Mechanism != "" {
			return nil, language.Faultf("%s has authMechanism in its URL and mechanism", fn).In("mechanism").Do("keep one of them")
		}
		if c.of.Mechanism, err = builtin.OneOf(fn, "mechanism", in[4], mechanisms()); err != nil {
			return nil, err
		}
	}
	has := c.of.User != "" || c.user != nil
	if certified := c.of.Mechanism == ByCertificate; has != (c.password != nil || c.of.Password != "") && !certified {
		return nil, language.Faultf("%s needs a user and a password together", fn).In("password").Do("write user = \"app\", password = secret(\"mongodb\")")
	} else if !has && !certified && (c.of.Mechanism != "" || c.of.Source != "") {
		return nil, language.Faultf("%s says how a user proves itself, and has none", fn).In("user").Do("write user = \"app\", password = secret(\"mongodb\")")
	}
	if c.key, err = c.of.Secure.Options(fn, in[5]); in[5] != nil && err == nil {
		c.of.Target.Secure = true
	}
	if err != nil {
		return nil, err
	}
	return c, c.of.Target.Shares(fn, in[6])
}

// proven checks what proves the user.
func (c *client) proven(fn string) error {
	for _, one := range []struct {
		name  string
		v     starlark.Value
		known string
	}{{"user", c.user, c.of.User}, {"password", c.password, c.of.Password}} {
		name := one.name
		if one.v == nil {
			continue
		}
		text, ok, err := request.SentText(one.v)
		switch {
		case err != nil:
			return err
		case !ok:
			return language.WrongType(fn, name, "a text or a secret", one.v).Do("write %s = secret(\"mongodb\"), and give it by --secret mongodb=file:PATH", name)
		case one.known != "":
			return language.Faultf("%s has a %s in its URL and in %s", fn, name, name).In(name).Do("keep one of them")
		case text == "" || strings.ContainsRune(text, 0):
			return language.Faultf("%s: %s is empty or has a zero byte", fn, name).In(name).Do("leave it out, or write %s = secret(\"mongodb\")", name)
		case strings.Contains(text, "${"):
			return language.Faultf("%s: %s has ${ in it, and a connection serves all iterations of its user", fn, name).In(name).Do("write it out, or take it from a secret")
		}
	}
	return nil
}
