package transfer

import (
	"strings"

	"go.starlark.net/starlark"

	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/request"
)

// anyHost stands in place of host_keys where no key identifies the server.
const anyHost = "any"

// Bounds of the arguments of sftp.client.
const (
	hostKeysMost = 1 << 20
	keyMost      = 64 << 10
)

// Schemes are those of sftp.client.
func Schemes() request.Schemes { return request.Schemes{Plain: "sftp", Port: 22, User: true} }

// ClientArguments are those of sftp.client.
func ClientArguments() []string { return []string{"url", "password", "key", "host_keys"} }

// client is the result of sftp.client.
type client struct {
	language.Opaque
	of            request.SFTP
	password, key starlark.Value // texts or secrets; nil: they are in of
}

// fill puts in what proves the user: a function's secrets have values.
func (c *client) fill(to *request.SFTP) (err error) {
	for _, one := range []struct {
		v  starlark.Value
		to *string
	}{{c.password, &to.Password}, {c.key, &to.Key}} {
		if one.v != nil && err == nil {
			*one.to, _, err = sent(one.v)
		}
	}
	return err
}

// sent reads a text, bytes or a secret.
func sent(v starlark.Value) (string, bool, error) {
	if b, ok := v.(starlark.Bytes); ok {
		return string(b), true, nil
	}
	return request.SentText(v)
}

// newClient is sftp.client.
func newClient(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	const fn = "sftp.client"
	var in [4]starlark.Value
	if err := language.Bind(fn, ClientArguments(), 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	t, err := Schemes().Read(fn, in[0])
	if err != nil {
		return nil, err
	}
	c := &client{Opaque: language.Opaque{Kind: fn}, of: request.SFTP{Target: t, User: t.User, Password: t.Password}, password: in[1], key: in[2]}
	t.User, t.Password = "", ""
	if err := c.proven(fn); err != nil {
		return nil, err
	}
	return c, c.identified(fn, in[3])
}

// proven checks what proves the user: a password or a key.
func (c *client) proven(fn string) error {
	given := 0
	if c.of.Password != "" {
		given++
	}
	for i, v := range []starlark.Value{c.password, c.key} {
		if v == nil {
			continue
		}
		given++
		name := ClientArguments()[i+1]
		text, ok, err := sent(v)
		switch {
		case err != nil:
			return err
		case !ok:
			return language.WrongType(fn, name, "a text or a secret", v).Do("write %s = secret(\"ssh\"), and give it by --secret ssh=file:PATH", name)
		case text == "":
			return language.Faultf("%s: %s is empty", fn, name).In(name).Do("write %s = secret(\"ssh\")", name)
		case len(text) > keyMost:
			return language.Faultf("%s: %s has %s, the limit is 64 KiB", fn, name, guard.Size(uint64(len(text)))).In(name)
		case strings.Contains(text, "${"):
			return language.Faultf("%s: %s has ${ in it, and a connection serves all iterations of its user", fn, name).In(name).Do("write it out, or take it from a secret")
		}
	}
	switch {
	case c.of.User == "":
		return language.Faultf("%s: the URL has no user", fn).In("url").Do("write sftp.client(\"sftp://app@host\", ...)")
	case given == 0:
		return language.Faultf("%s has neither a password nor a key", fn).Do("write key = secret(\"id\"), or password = secret(\"ssh\")")
	case given > 1:
		return language.Faultf("%s proves its user by more than one of url, password and key", fn).In("password").Do("keep one of them")
	}
	return nil
}

// identified reads what identifies the server.
func (c *client) identified(fn string, v starlark.Value) error {
	const remedy = "write host_keys = file(\"known_hosts\"), which ssh-keyscan HOST makes, or host_keys = \"any\" for a server that nothing identifies"
	if v == nil {
		return language.Faultf("%s has no host_keys, and any machine could answer for the server", fn).Do(remedy)
	}
	text, err := builtin.Content(fn, "host_keys", v, hostKeysMost)
	if err != nil {
		return err
	}
	if text == anyHost {
		return nil
	}
	c.of.HostKeys = text
	for _, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			if len(strings.Fields(line)) < 3 {
				return language.Faultf("%s: host_keys has the line %q, which is none of known_hosts", fn, language.Clip(line, 60)).In("host_keys").Do(remedy)
			}
			return nil
		}
	}
	return language.Faultf("%s: host_keys has no key in it", fn).In("host_keys").Do(remedy)
}
