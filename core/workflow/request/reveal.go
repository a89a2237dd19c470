package request

import (
	"fmt"
	"slices"
	"strings"

	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/secret"
)

// Reveal returns a request that a file declares with the values of its secrets. It does not
// change its argument.
func (r *Request) Reveal(v *secret.Vault) (*Request, error) {
	if !r.hides(v) {
		return r, nil
	}
	out := *r
	f := revealer{vault: v}
	path, query, has := strings.Cut(r.URL, "?")
	if out.URL = f.fill("the path of the URL", path, secret.Path); has {
		out.URL += "?" + f.fill("the query of the URL", query, secret.Query)
	}
	out.Headers, out.Params, out.Cookies = f.pairs("the header", r.Headers, secret.Field), f.pairs("the parameter", r.Params, secret.Plain), f.pairs("the cookie", r.Cookies, secret.Cookie)
	if r.Auth != nil {
		out.Auth = &Auth{r.Auth.Kind, f.fill("a user's name", r.Auth.User, secret.User), f.fill("a password", r.Auth.Password, secret.Plain), f.fill("a token", r.Auth.Token, secret.Field)}
	}
	// Only json = and form = set these types: a text has text/plain.
	escape := map[string]secret.Escape{"application/json": secret.JSON, "application/x-www-form-urlencoded": secret.Query}[r.ContentType]
	out.Body, out.Files = r.rewrite(func(text string) string { return f.fill("the body", text, escape) })
	out.Socket = r.Socket.rewritten(func(text string) string { return f.fill("a message", text, secret.Plain) })
	if out.Redis = r.Redis.rewritten(func(text string) string { return f.fill("a command", text, secret.Plain) }); out.Redis != nil {
		out.Redis.User, out.Redis.Password = f.fill("a user's name", r.Redis.User, secret.Plain), f.fill("a password", r.Redis.Password, secret.Plain)
	}
	if out.SQL = r.SQL.rewritten(func(text string) string { return f.fill("an argument", text, secret.Plain) }); out.SQL != nil {
		out.SQL.User, out.SQL.Password = f.fill("a user's name", r.SQL.User, secret.Plain), f.fill("a password", r.SQL.Password, secret.Plain)
		secured, err := r.SQL.Secure.revealed(func(text string) string { return f.fill("a key", text, secret.Plain) })
		if out.SQL.Secure = secured; err != nil && f.err == nil {
			f.err = err
		}
	}
	out.NATS = f.nats(r.NATS)
	out.Kafka = f.kafka(r.Kafka)
	out.MQTT = f.mqtt(r.MQTT)
	out.AMQP = f.amqp(r.AMQP)
	out.FTP = f.ftp(r.FTP)
	out.SFTP = f.sftp(r.SFTP)
	out.SMTP = f.smtp(r.SMTP)
	out.MongoDB = f.mongoDB(r.MongoDB)
	return &out, f.err
}

// nats fills what is sent to a NATS server, and what proves its user.
func (f *revealer) nats(n *NATS) *NATS {
	out := n.rewritten(func(text string) string { return f.fill("a message", text, secret.Plain) })
	if out == nil {
		return nil
	}
	for _, proof := range out.proofs() {
		*proof = f.fill("what proves a user", *proof, secret.Plain)
	}
	secured, err := out.Secure.revealed(func(text string) string { return f.fill("a key", text, secret.Plain) })
	if out.Secure = secured; err != nil && f.err == nil {
		f.err = err
	}
	return out
}

// kafka fills what is sent to a Kafka cluster, and what proves its user.
func (f *revealer) kafka(k *Kafka) *Kafka {
	out := k.rewritten(func(text string) string { return f.fill("a record", text, secret.Plain) })
	if out == nil {
		return nil
	}
	out.User, out.Password = f.fill("a user's name", k.User, secret.Plain), f.fill("a password", k.Password, secret.Plain)
	secured, err := out.Secure.revealed(func(text string) string { return f.fill("a key", text, secret.Plain) })
	if out.Secure = secured; err != nil && f.err == nil {
		f.err = err
	}
	return out
}

// mqtt fills what is sent to an MQTT server, and what proves its user.
func (f *revealer) mqtt(m *MQTT) *MQTT {
	out := m.rewritten(func(text string) string { return f.fill("a message", text, secret.Plain) })
	if out == nil {
		return nil
	}
	out.User, out.Password = f.fill("a user's name", m.User, secret.Plain), f.fill("a password", m.Password, secret.Plain)
	secured, err := out.Secure.revealed(func(text string) string { return f.fill("a key", text, secret.Plain) })
	if out.Secure = secured; err != nil && f.err == nil {
		f.err = err
	}
	return out
}

// amqp fills what is sent to a RabbitMQ server, and what proves its user.
func (f *revealer) amqp(a *AMQP) *AMQP {
	out := a.rewritten(func(text string) string { return f.fill("a message", text, secret.Plain) })
	if out == nil {
		return nil
	}
	out.User, out.Password = f.fill("a user's name", a.User, secret.Plain), f.fill("a password", a.Password, secret.Plain)
	secured, err := out.Secure.revealed(func(text string) string { return f.fill("a key", text, secret.Plain) })
	if out.Secure = secured; err != nil && f.err == nil {
		f.err = err
	}
	return out
}

// ftp fills what a request does with files, and what proves its user.
func (f *revealer) ftp(to *FTP) *FTP {
	out := to.rewritten(func(text string) string { return f.fill("a path or a file", text, secret.Plain) })
	if out == nil {
		return nil
	}
	out.Password = f.fill("a password", to.Password, secret.Plain)
	f.secure(&out.Secure)
	return out
}

// sftp fills what a request does with files, and what proves its user.
func (f *revealer) sftp(s *SFTP) *SFTP {
	out := s.rewritten(func(text string) string { return f.fill("a path or a file", text, secret.Plain) })
	if out == nil {
		return nil
	}
	out.Password, out.Key = f.fill("a password", s.Password, secret.Plain), f.fill("a key", s.Key, secret.Plain)
	return out
}

// smtp fills what is handed over to a mail server, and what proves its user.
func (f *revealer) smtp(m *SMTP) *SMTP {
	out := m.rewritten(func(text string) string { return f.fill("a message", text, secret.Plain) })
	if out == nil {
		return nil
	}
	out.User, out.Password = f.fill("a user's name", m.User, secret.Plain), f.fill("a password", m.Password, secret.Plain)
	f.secure(&out.Secure)
	return out
}

// secure fills the key of a client.
func (f *revealer) secure(s *SQLSecure) {
	secured, err := s.revealed(func(text string) string { return f.fill("a key", text, secret.Plain) })
	if *s = secured; err != nil && f.err == nil {
		f.err = err
	}
}

// mongoDB fills what is asked of a MongoDB server, and what proves its user.
func (f *revealer) mongoDB(m *MongoDB) *MongoDB {
	out := m.rewritten(func(text string) string { return f.fill("a command", text, secret.JSON) })
	if out == nil {
		return nil
	}
	out.User, out.Password = f.fill("a user's name", m.User, secret.Plain), f.fill("a password", m.Password, secret.Plain)
	secured, err := out.Secure.revealed(func(text string) string { return f.fill("a key", text, secret.Plain) })
	if out.Secure = secured; err != nil && f.err == nil {
		f.err = err
	}
	return out
}

// hides reports whether words of secrets stand in the request.
func (r *Request) hides(v *secret.Vault) bool {
	named := func(p builtin.Pair) bool { return v.Has(p.Value) }
	return v.Has(r.URL) || v.Has(string(r.Body)) || r.Auth != nil && v.Has(r.Auth.User+" "+r.Auth.Password+" "+r.Auth.Token) ||
		r.Socket.has(v.Has) || r.Redis.has(v.Has) || r.SQL.has(v.Has) || r.NATS.has(v.Has) || r.Kafka.has(v.Has) || r.MQTT.has(v.Has) || r.AMQP.has(v.Has) || r.FTP.has(v.Has) || r.SFTP.has(v.Has) || r.SMTP.has(v.Has) || r.MongoDB.has(v.Has) ||
		slices.ContainsFunc(r.Headers, named) || slices.ContainsFunc(r.Params, named) || slices.ContainsFunc(r.Cookies, named)
}

// Reveal gives a client the values of its secrets.
func (o *Options) Reveal(v *secret.Vault) error {
	f := revealer{vault: v}
	o.Headers = f.pairs("the header", o.Headers, secret.Field)
	if p := o.Proxy; p != nil {
		own := *p
		own.User, own.Password = f.fill("a user's name", p.User, secret.User), f.fill("a password", p.Password, secret.Plain)
		o.Proxy = &own
	}
	if f.err == nil && v.Has(string(o.TLS.Key)) {
		o.TLS.Key = []byte(f.fill("a key", string(o.TLS.Key), secret.Plain))
		f.err = o.TLS.belongs()
	}
	return f.err
}

// revealer fills texts and keeps the first error.
type revealer struct {
	vault *secret.Vault
	err   error
}

func (f *revealer) fill(place, text string, e secret.Escape) string {
	out, err := f.vault.Fill(place, text, e)
	if err != nil && f.err == nil {
		f.err = err
	}
	return out
}

func (f *revealer) pairs(what string, all []builtin.Pair, e secret.Escape) []builtin.Pair {
	all = slices.Clone(all)
	for i := range all {
		all[i].Value = f.fill(fmt.Sprintf("%s %s", what, all[i].Name), all[i].Value, e)
	}
	return all
}
