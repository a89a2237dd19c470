package broker

import (
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/request"
	"hyperscale/core/workflow/secret"
)

// NATSSchemes are those of nats.client. A user without a password in a URL is a token.
func NATSSchemes() request.Schemes {
	return request.Schemes{Plain: "nats", Secure: "tls", Port: 4222, User: true}
}

// NATSClientArguments are those of nats.client.
func NATSClientArguments() []string {
	return []string{"url", "user", "password", "token", "nkey", "credentials", "inbox", "tls", "connections", "first"}
}

// proofs is how many of them prove the user: those behind url.
const proofs = 5

// natsValue is the result of nats.client.
type natsValue struct {
	language.Opaque
	of     request.NATS
	proves [proofs]starlark.Value // texts or secrets; nil: it is in of
	key    *secret.Text           // of tls; nil: it is in of
}

func (c *natsValue) fill(to *request.NATS) (err error) {
	for i, at := range []*string{&to.User, &to.Password, &to.Token, &to.Seed, &to.Credentials} {
		if c.proves[i] != nil && err == nil {
			*at, _, err = request.SentText(c.proves[i]) // a function's secrets have values
		}
	}
	if err != nil {
		return err
	}
	return to.Secure.SentKey(c.key)
}

// Shared implements request.Sharer.
func (c *natsValue) Shared() *request.Target { return c.of.Target.IfShared() }

// newNATSClient is nats.client.
func newNATSClient(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	const fn = "nats.client"
	var in [10]starlark.Value
	if err := language.Bind(fn, NATSClientArguments(), 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	c, err := natsURL(fn, in[0])
	if err != nil {
		return nil, err
	}
	out := &natsValue{Opaque: language.Opaque{Kind: fn}, of: c, proves: [proofs]starlark.Value(in[1:])}
	if err := out.proven(fn); err != nil {
		return nil, err
	}
	if in[6] != nil {
		inbox, ok := starlark.AsString(in[6])
		if !ok {
			return nil, language.WrongType(fn, "inbox", "a text", in[6])
		}
		if err := checkSubject(fn, "inbox", inbox, false); err != nil {
			return nil, err
		}
		out.of.Inbox = inbox
	}
	if in[7] != nil && !c.Target.Secure {
		return nil, language.Faultf("%s has tls, and its URL is of nats://", fn).In("tls").Do("write tls://host")
	}
	if out.of.First, err = builtin.Flag(fn, "first", in[9], false); err != nil {
		return nil, err
	}
	if out.of.First && !c.Target.Secure {
		return nil, language.Faultf("%s has first, and its URL is of nats://", fn).In("first").Do("write tls://host, or leave first out")
	}
	if out.key, err = out.of.Secure.Options(fn, in[7]); err != nil {
		return nil, err
	}
	return out, out.of.Target.Shares(fn, in[8])
}

// proven checks what proves the user: one way at most.
func (c *natsValue) proven(fn string) error {
	var ways []string
	if c.of.User != "" || c.of.Token != "" {
		ways = append(ways, "url")
	}
	for i, v := range c.proves {
		name := NATSClientArguments()[i+1]
		if v == nil {
			continue
		}
		text, ok, err := request.SentText(v)
		switch {
		case err != nil:
			return err
		case !ok:
			return language.WrongType(fn, name, "a text or a secret", v).Do("write %s = secret(\"nats\"), and give it by --secret nats=file:PATH", name)
		case text == "":
			return language.Faultf("%s: %s is empty", fn, name).In(name).Do("leave it out, or write %s = secret(\"nats\")", name)
		case strings.Contains(text, "${"):
			return language.Faultf("%s: %s has ${ in it, and a connection serves all iterations of its user", fn, name).In(name).Do("write it out, or take it from a secret")
		}
		if name != "password" {
			ways = append(ways, name)
		}
	}
	switch {
	case len(ways) > 1:
		return language.Faultf("%s proves its user by %s and by %s", fn, ways[0], ways[1]).In(ways[1]).Do("keep one of them")
	case slices.Contains(ways, "user") != (c.proves[1] != nil):
		return language.Faultf("%s needs a user and a password together", fn).In("password").Do("write user = \"app\", password = secret(\"nats\")")
	}
	return nil
}

// natsURL reads the URL of a server.
func natsURL(fn string, v starlark.Value) (n request.NATS, err error) {
	t, err := NATSSchemes().Read(fn, v)
	if err != nil {
		return n, err
	}
	n.Target = t
	if n.User, n.Password = t.User, t.Password; n.Password == "" {
		n.User, n.Token = "", t.User
	}
	t.User, t.Password = "", ""
	return n, nil
}

// natsTarget reads a URL, or the result of nats.client.
func natsTarget(fn string, v starlark.Value) (request.NATS, error) {
	if c, ok := v.(*natsValue); ok {
		to := c.of
		return to, c.fill(&to)
	}
	if _, ok := v.(starlark.String); !ok && v != nil {
		return request.NATS{}, language.WrongType(fn, "target", "a URL or the result of nats.client", v).Do("write %s(\"nats://host\", ...)", fn)
	}
	return natsURL(fn, v)
}
