package broker

import (
	"strings"

	"go.starlark.net/starlark"

	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/request"
	"hyperscale/core/workflow/secret"
)

// AMQPSchemes are those of amqp.client. The path is the virtual host.
func AMQPSchemes(secure bool) request.Schemes {
	s := request.Schemes{Plain: "amqp", Secure: "amqps", Port: 5672, User: true, Path: true}
	if secure {
		s.Port = 5671
	}
	return s
}

// AMQPClientArguments are those of amqp.client.
func AMQPClientArguments() []string {
	return []string{"url", "user", "password", "auth", "tls", "connections"}
}

// amqpValue is the result of amqp.client.
type amqpValue struct {
	language.Opaque
	of             request.AMQP
	user, password starlark.Value // texts or secrets; nil: they are in of
	key            *secret.Text   // of tls; nil: it is in of
}

func (c *amqpValue) fill(to *request.AMQP) (err error) {
	if c.user != nil {
		if to.User, _, err = request.SentText(c.user); err != nil { // a function's secrets have values
			return err
		}
		if to.Password, _, err = request.SentText(c.password); err != nil {
			return err
		}
	}
	return to.Secure.SentKey(c.key)
}

// Shared implements request.Sharer.
func (c *amqpValue) Shared() *request.Target { return c.of.Target.IfShared() }

// newAMQPClient is amqp.client.
func newAMQPClient(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	const fn = "amqp.client"
	var in [6]starlark.Value
	if err := language.Bind(fn, AMQPClientArguments(), 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	c, err := amqpURL(fn, in[0])
	if err != nil {
		return nil, err
	}
	out := &amqpValue{Opaque: language.Opaque{Kind: fn}, of: c, user: in[1], password: in[2]}
	how, err := builtin.OneOf(fn, "auth", in[3], []string{"plain", "external"})
	if err != nil {
		return nil, err
	}
	if in[4] != nil && !c.Target.Secure {
		return nil, language.Faultf("%s has tls, and its URL is of amqp://", fn).In("tls").Do("write amqps://host")
	}
	if out.key, err = out.of.Secure.Options(fn, in[4]); err != nil {
		return nil, err
	}
	if err := out.of.Target.Shares(fn, in[5]); err != nil {
		return nil, err
	}
	if how == "external" {
		return out, out.external(fn)
	}
	return out, out.proven(fn)
}

// external checks what a user who is proved by a certificate needs.
func (c *amqpValue) external(fn string) error {
	c.of.Flags |= request.AMQPExternal
	switch {
	case c.user != nil || c.password != nil || c.of.User != "":
		return language.Faultf("%s has auth = \"external\", where the certificate proves the user, and a user or a password", fn).In("auth").Do("take one of them out")
	case c.of.Secure.TLS == nil || len(c.of.Secure.TLS.Certificate) == 0:
		return language.Faultf("%s has auth = \"external\", and no certificate proves the user", fn).In("auth").Do("write amqps://host, tls = tls(certificate = file(\"client.pem\"), key = secret(\"key\"))")
	}
	return nil
}

// proven checks a user and a password, in the URL or as arguments.
func (c *amqpValue) proven(fn string) error {
	switch {
	case (c.user != nil || c.password != nil) && c.of.User != "" && c.of.Password != "":
		return language.Faultf("%s proves its user by url and by arguments", fn).In("user").Do("keep one of them")
	case c.user == nil && c.password != nil && c.of.User != "":
		c.user = starlark.String(c.of.User) // amqp://app@host, password = ...
	case (c.user == nil) != (c.password == nil), c.user == nil && c.of.User != "" && c.of.Password == "":
		return language.Faultf("%s needs a user and a password together", fn).In("password").Do("write user = \"app\", password = secret(\"amqp\")")
	}
	for i, v := range []starlark.Value{c.user, c.password} {
		name := AMQPClientArguments()[i+1]
		if v == nil {
			continue
		}
		text, ok, err := request.SentText(v)
		switch {
		case err != nil:
			return err
		case !ok:
			return language.WrongType(fn, name, "a text or a secret", v).Do("write %s = secret(\"amqp\"), and give it by --secret amqp=file:PATH", name)
		case text == "":
			return language.Faultf("%s: %s is empty", fn, name).In(name).Do("leave it out, or write %s = secret(\"amqp\")", name)
		case strings.Contains(text, "${"):
			return language.Faultf("%s: %s has ${ in it, and a connection serves all iterations of its user", fn, name).In(name).Do("write it out, or take it from a secret")
		}
	}
	return nil
}

// amqpURL reads the URL of a server.
func amqpURL(fn string, v starlark.Value) (a request.AMQP, err error) {
	text, _ := starlark.AsString(v)
	t, err := AMQPSchemes(strings.HasPrefix(text, "amqps:")).Read(fn, v)
	if err != nil {
		return a, err
	}
	if len(t.Path) > shortMost {
		return a, language.Faultf("%s: the URL has a virtual host of %d bytes, and AMQP takes 255", fn, len(t.Path)).In("url").Do("shorten it")
	}
	a.Target, a.User, a.Password, a.Priority = t, t.User, t.Password, -1
	t.User, t.Password = "", ""
	return a, nil
}

// amqpTarget reads a URL, or the result of amqp.client.
func amqpTarget(fn string, v starlark.Value) (request.AMQP, error) {
	if c, ok := v.(*amqpValue); ok {
		to := c.of
		return to, c.fill(&to)
	}
	if _, ok := v.(starlark.String); !ok && v != nil {
		return request.AMQP{}, language.WrongType(fn, "target", "a URL or the result of amqp.client", v).Do("write %s(\"amqp://host\", ...)", fn)
	}
	a, err := amqpURL(fn, v)
	if err == nil && (a.User == "") != (a.Password == "") {
		err = language.Faultf("%s: the URL has a user without a password, or the reverse", fn).In("target").Do("write amqp.client(\"amqp://host\", user = \"app\", password = secret(\"amqp\"))")
	}
	return a, err
}
