package mail

import (
	"strings"

	"go.starlark.net/starlark"

	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/request"
	"hyperscale/core/workflow/secret"
)

// Schemes are those of smtp.client.
func Schemes() request.Schemes {
	return request.Schemes{Plain: "smtp", Secure: "smtps", Port: 25, SecurePort: 465}
}

// SMTPClientArguments are those of smtp.client.
func SMTPClientArguments() []string {
	return []string{"url", "starttls", "auth", "per_connection", "hello", "tls"}
}

const (
	eachMost  = 1_000_000 // messages of a connection
	helloMost = 255
)

// mechanisms are the words of smtp for what proves a user, with their names in SASL.
func mechanisms() map[string]string {
	return map[string]string{"plain": "PLAIN", "login": "LOGIN", "cram_md5": "CRAM-MD5", "xoauth2": "XOAUTH2"}
}

// smtpProof is the result of smtp.plain and its like.
type smtpProof struct {
	language.Opaque
	mechanism      string
	user, password starlark.Value // texts or secrets
}

// prover is smtp.plain, smtp.login, smtp.cram_md5 or smtp.xoauth2.
func prover(word, mechanism string) *guard.Func {
	fn, second := "smtp."+word, "password"
	if word == "xoauth2" {
		second = "token"
	}
	return &guard.Func{Word: word, Call: func(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		a, err := bind(fn, []string{"user", second}, 2, args, kwargs)
		if err != nil {
			return nil, err
		}
		for _, name := range a.names {
			if err := a.proof(name, fn+"(\"app\", secret(\"mail\"))"); err != nil {
				return nil, err
			}
		}
		return &smtpProof{language.Opaque{Kind: fn}, mechanism, a.in[0], a.in[1]}, nil
	}}
}

// smtpClient is the result of smtp.client.
type smtpClient struct {
	language.Opaque
	of    request.SMTP
	proof *smtpProof   // nil: none
	key   *secret.Text // of tls; nil: it is in of
}

// fill puts in what proves the user: a function's secrets have values.
func (c *smtpClient) fill(to *request.SMTP) (err error) {
	if c.proof != nil {
		if to.User, _, err = request.SentText(c.proof.user); err != nil {
			return err
		}
		if to.Password, _, err = request.SentText(c.proof.password); err != nil {
			return err
		}
	}
	return to.Secure.SentKey(c.key)
}

// newSMTPClient is smtp.client.
func newSMTPClient(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	a, err := bind("smtp.client", SMTPClientArguments(), 1, args, kwargs)
	if err != nil {
		return nil, err
	}
	c := &smtpClient{Opaque: language.Opaque{Kind: a.fn}}
	if c.of.Target, err = Schemes().Read(a.fn, a.of("url")); err != nil {
		return nil, err
	}
	if v := a.of("auth"); v != nil {
		p, ok := v.(*smtpProof)
		if !ok {
			return nil, language.WrongType(a.fn, "auth", "smtp.plain(...), smtp.login(...), smtp.cram_md5(...) or smtp.xoauth2(...)", v).Do("write auth = smtp.plain(\"app\", secret(\"mail\"))")
		}
		c.proof, c.of.Mechanism = p, p.mechanism
	}
	if err := a.startTLS(c); err != nil {
		return nil, err
	}
	if v := a.of("per_connection"); v != nil {
		if c.of.Each, err = language.Integer(a.fn, "per_connection", v, 1, eachMost); err != nil {
			return nil, err
		}
	}
	if err := a.hello(c); err != nil {
		return nil, err
	}
	c.key, err = c.of.Secure.Options(a.fn, a.of("tls"))
	return c, err
}

// startTLS reads whether a connection that begins in clear has TLS. It has where something needs it.
func (a *arguments) startTLS(c *smtpClient) error {
	v := a.of("starttls")
	how, err := builtin.OneOf(a.fn, "starttls", v, []string{"required", "never"})
	if err != nil {
		return err
	}
	tells := c.proof != nil && c.proof.mechanism != "CRAM-MD5"
	switch {
	case c.of.Target.Secure && v != nil:
		return language.Faultf("%s has starttls, and its URL is of smtps://, which has TLS from the first byte", a.fn).In("starttls").Do("take starttls out, or write smtp://host:587")
	case c.of.Target.Secure:
	case v == nil:
		c.of.StartTLS = c.proof != nil || a.of("tls") != nil
	case how == "required":
		c.of.StartTLS = true
	case tells:
		return language.Faultf("%s has starttls = \"never\", and auth, whose password would go out in clear", a.fn).In("starttls").Do("write starttls = \"required\", smtps://, or auth = smtp.cram_md5(...), which tells no password")
	case a.of("tls") != nil:
		return language.Faultf("%s has tls, and starttls = \"never\"", a.fn).In("starttls").Do("take one of them out")
	}
	return nil
}

// hello reads how the client calls itself.
func (a *arguments) hello(c *smtpClient) error {
	v := a.of("hello")
	if v == nil {
		return nil
	}
	text, ok := starlark.AsString(v)
	switch {
	case !ok:
		return language.WrongType(a.fn, "hello", "a text", v)
	case text == "" || len(text) > helloMost || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return language.Faultf("%s: hello = %q is no name of a host", a.fn, language.Clip(text, 40)).In("hello").Do("write hello = \"load.example.org\", or an address in brackets, \"[192.0.2.1]\"")
	}
	c.of.Hello = text
	return nil
}

// smtpTarget reads a URL, or the result of smtp.client.
func smtpTarget(fn string, v starlark.Value) (to request.SMTP, err error) {
	if c, ok := v.(*smtpClient); ok {
		to = c.of
		return to, c.fill(&to)
	}
	if _, ok := v.(starlark.String); !ok && v != nil {
		return to, language.WrongType(fn, "target", "a URL or the result of smtp.client", v).Do("write %s(\"smtp://host\", ...)", fn)
	}
	to.Target, err = Schemes().Read(fn, v)
	return to, err
}
