package broker

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"go.starlark.net/starlark"

	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/request"
	"hyperscale/core/workflow/secret"
)

// MQTTSchemes are those of mqtt.client.
func MQTTSchemes() request.Schemes {
	return request.Schemes{Plain: "mqtt", Secure: "mqtts", Port: 1883, SecurePort: 8883, User: true}
}

// MQTTClientArguments are those of mqtt.client.
func MQTTClientArguments() []string {
	return []string{"url", "user", "password", "version", "client_id", "clean_start", "session_expiry", "keep_alive", "tls", "will"}
}

// The versions, as CONNECT has them.
const (
	mqttOlder  = 4
	mqttNewest = 5
)

const (
	keepAliveDefault = 60                        // seconds. Less costs pings; more lets a router forget the connection
	keepAliveMost    = 65535 * time.Second       // it has 16 bits
	expiryMost       = (1<<32 - 1) * time.Second // that it never ends is no choice
	clientMost       = 256                       // bytes of a client_id
)

// mqttValue is the result of mqtt.client.
type mqttValue struct {
	language.Opaque
	of     request.MQTT
	proves [2]starlark.Value // user and password: texts or secrets; nil: it is in of
	key    *secret.Text      // of tls; nil: it is in of
}

func (c *mqttValue) fill(to *request.MQTT) (err error) {
	for i, at := range []*string{&to.User, &to.Password} {
		if c.proves[i] != nil && err == nil {
			*at, _, err = request.SentText(c.proves[i]) // a function's secrets have values
		}
	}
	if err != nil {
		return err
	}
	return to.Secure.SentKey(c.key)
}

// newMQTTClient is mqtt.client.
func newMQTTClient(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	in := arguments{fn: "mqtt.client", names: MQTTClientArguments()}
	if err := request.Unshared(in.fn, kwargs, "does not apply: a connection is one client identifier's, and acknowledgements belong to its session", "take it out: each virtual user has a connection of its own"); err != nil {
		return nil, err
	}
	if err := in.bind(args, kwargs, 1); err != nil {
		return nil, err
	}
	c, err := mqttURL(in.fn, in.of("url"))
	if err != nil {
		return nil, err
	}
	out := &mqttValue{Opaque: language.Opaque{Kind: in.fn}, of: c, proves: [2]starlark.Value{in.of("user"), in.of("password")}}
	if err := in.proofs(&out.of); err != nil {
		return nil, err
	}
	if err := in.kept(&out.of); err != nil {
		return nil, err
	}
	if in.of("tls") != nil && !c.Target.Secure {
		return nil, language.Faultf("%s has tls, and its URL is of mqtt://", in.fn).In("tls").Do("write mqtts://host")
	}
	if err := in.will(&out.of); err != nil {
		return nil, err
	}
	out.key, err = out.of.Secure.Options(in.fn, in.of("tls"))
	return out, err
}

// proofs checks user and password.
func (a *arguments) proofs(c *request.MQTT) error {
	for i, known := range []string{c.User, c.Password} {
		name := []string{"user", "password"}[i]
		v := a.of(name)
		if v == nil {
			continue
		}
		text, ok, err := request.SentText(v)
		switch {
		case err != nil:
			return err
		case !ok:
			return language.WrongType(a.fn, name, "a text or a secret", v).Do("write %s = secret(\"mqtt\"), and give it by --secret mqtt=file:PATH", name)
		case known != "":
			return language.Faultf("%s has a %s in its URL and in %s", a.fn, name, name).In(name).Do("keep one of them")
		case text == "":
			return language.Faultf("%s: %s is empty", a.fn, name).In(name).Do("leave it out, or write %s = secret(\"mqtt\")", name)
		case strings.Contains(text, "${"):
			return language.Faultf("%s: %s has ${ in it, and a connection serves all iterations of its user", a.fn, name).In(name).Do("write it out, or take it from a secret")
		}
	}
	if a.of("password") != nil && a.of("user") == nil && c.User == "" {
		return language.Faultf("%s has a password and no user", a.fn).In("password").Do("write user = \"app\", password = secret(\"mqtt\")")
	}
	return nil
}

// kept reads what the server keeps of a client, and for how long.
func (a *arguments) kept(c *request.MQTT) error {
	if v := a.of("version"); v != nil {
		text, ok := v.(starlark.String)
		at := slices.Index([]string{"3.1.1", "5"}, string(text))
		switch {
		case !ok:
			return language.WrongType(a.fn, "version", "a text", v).Do("write version = \"5\", or \"3.1.1\"")
		case at < 0:
			return language.Faultf("%s: version = %q is none", a.fn, language.Clip(string(text), 20)).In("version").Do("write version = \"5\", or \"3.1.1\"")
		}
		c.Version = uint8(mqttOlder + at)
	}
	if err := a.clientID(c); err != nil {
		return err
	}
	clean, err := builtin.Flag(a.fn, "clean_start", a.of("clean_start"), true)
	if err != nil {
		return err
	}
	if c.Resumes = !clean; c.Resumes && c.ClientID == "" {
		return language.Faultf("%s has clean_start = False and no client_id, by which the server would know its session", a.fn).In("clean_start").Do("write client_id = \"load-${vu}\", or take clean_start out")
	}
	expiry, err := a.seconds("session_expiry", expiryMost)
	switch {
	case err != nil:
		return err
	case expiry > 0 && c.Version != mqttNewest:
		return language.Faultf("%s has session_expiry, which only version 5 has", a.fn).In("session_expiry").Do("write version = \"5\", or take session_expiry out")
	case c.Resumes && c.Version == mqttNewest && expiry == 0:
		return language.Faultf("%s has clean_start = False and no session_expiry: version 5 ends a session with its connection", a.fn).In("clean_start").Do("write session_expiry = \"1h\"")
	}
	c.Expiry = uint32(expiry)
	if a.of("keep_alive") != nil {
		keep, err := a.seconds("keep_alive", keepAliveMost)
		if err != nil {
			return err
		}
		c.KeepAlive = uint16(keep)
	}
	return nil
}

// seconds reads a duration of whole seconds; 0: there is none.
func (a *arguments) seconds(name string, most time.Duration) (int64, error) {
	v := a.of(name)
	if v == nil {
		return 0, nil
	}
	d, err := language.Duration(a.fn, name, v)
	switch {
	case err != nil:
		return 0, err
	case d < time.Second || d%time.Second != 0 || d > most:
		return 0, language.Faultf("%s: %s = %q is no number of seconds from 1 to %d", a.fn, name, d, int64(most/time.Second)).In(name).Do("write %s = \"60s\"", name)
	}
	return int64(d / time.Second), nil
}

// clientID reads client_id, in which only ${vu} may stand.
func (a *arguments) clientID(c *request.MQTT) error {
	v := a.of("client_id")
	if v == nil {
		return nil
	}
	text, ok := starlark.AsString(v)
	if !ok {
		return language.WrongType(a.fn, "client_id", "a text", v)
	}
	wrong := func(what, remedy string) error {
		return language.Faultf("%s: client_id = %q %s", a.fn, language.Clip(text, 60), what).In("client_id").Do("%s", remedy)
	}
	rest := strings.ReplaceAll(text, request.UserWord, "")
	switch {
	case text == "":
		return wrong("is empty", "leave it out: each connection then has one of its own")
	case len(text) > clientMost:
		return wrong("is longer than 256 bytes", "shorten it: some servers take 23 bytes")
	case strings.Contains(rest, "${"):
		return wrong("has a value in it, and a connection serves all iterations of its user", "write ${vu}, the number of the virtual user")
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
		return wrong("has a character that no server takes", "write letters, digits and dashes, as in \"load-${vu}\"")
	}
	c.ClientID = text
	return nil
}

// mqttURL reads the URL of a server.
func mqttURL(fn string, v starlark.Value) (m request.MQTT, err error) {
	t, err := MQTTSchemes().Read(fn, v)
	if err != nil {
		return m, err
	}
	m = request.MQTT{Target: t, Version: mqttNewest, KeepAlive: keepAliveDefault, User: t.User, Password: t.Password}
	if t.User, t.Password = "", ""; m.Password != "" && m.User == "" {
		return m, language.Faultf("%s: the URL has a password and no user", fn).In("url").Do("write mqtt.client(\"mqtt://host\", user = ..., password = secret(\"mqtt\"))")
	}
	return m, nil
}

// mqttTarget reads a URL, or the result of mqtt.client.
func mqttTarget(fn string, v starlark.Value) (request.MQTT, error) {
	if c, ok := v.(*mqttValue); ok {
		to := c.of
		return to, c.fill(&to)
	}
	if _, ok := v.(starlark.String); !ok && v != nil {
		return request.MQTT{}, language.WrongType(fn, "target", "a URL or the result of mqtt.client", v).Do("write %s(\"mqtt://host\", ...)", fn)
	}
	return mqttURL(fn, v)
}

// CheckClient rejects a client_id that several virtual users of a step would have: each connection would
// throw the one before out. Nil: there is no fault.
func CheckClient(workflow, step string, vus uint64, m *request.MQTT) *language.Fault {
	if m.ClientID == "" || vus <= 1 || strings.Contains(m.ClientID, request.UserWord) {
		return nil
	}
	return language.Faultf("workflow %q: step %q connects all %d virtual users as %q, and a server throws the connection before out", workflow, step, vus, language.Clip(m.ClientID, 60)).
		Do("write client_id = %q in mqtt.client, or leave it out", language.Clip(m.ClientID, 60)+"-"+request.UserWord)
}

// Clients are the client identifiers of workflows, each with the step that has it first.
type Clients map[string]struct {
	workflow, step string
	verb           request.MQTTVerb
}

// Claim rejects one that another workflow has, as the virtual users of both have the same numbers, and one
// that both mqtt.connect and a connection that stays have. Nil: there is no fault.
func (c Clients) Claim(workflow, step string, m *request.MQTT) *language.Fault {
	if m.ClientID == "" {
		return nil
	}
	key := m.Target.URL() + " " + m.ClientID
	first, known := c[key]
	switch id := language.Clip(m.ClientID, 60); {
	case known && first.workflow != workflow:
		return language.Faultf("workflow %q: step %q connects as %q, and so does workflow %q, whose virtual users have the same numbers", workflow, step, id, first.workflow).
			Do("give each workflow an mqtt.client of its own, with another client_id")
	case known && first.verb != m.Verb:
		return language.Faultf("workflow %q: step %q connects as %q, and so does step %q, whose connection it would end or be ended by", workflow, step, id, first.step).
			Do("give mqtt.connect an mqtt.client of its own, with another client_id")
	}
	first.workflow, first.step, first.verb = workflow, step, m.Verb
	c[key] = first
	return nil
}
