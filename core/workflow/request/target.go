package request

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"hyperscale/core/node"
	"hyperscale/core/plan"
	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/secret"
)

// Target is where exchanges go that no HTTP request opens.
type Target struct {
	Scheme         string // as written: "tcp", "rediss"
	Host           string // without brackets
	Port           uint16
	Secure         bool   // behind TLS
	User, Password string // of the URL
	Path           string // behind the slash; empty: none
	Connections    uint32 // to it, of an executor, shared by its virtual users; 0: each has its own
}

// PerVU is the value of connections by which each virtual user has its own.
const PerVU = "per_vu"

// Shares reads connections of a client.
func (t *Target) Shares(fn string, v starlark.Value) error {
	switch v := v.(type) {
	case nil:
		return nil
	case starlark.String:
		if v == PerVU {
			return nil
		}
		return language.WrongType(fn, "connections", "\"per_vu\" or a whole number", v).Meant(string(v), []string{PerVU})
	}
	n, err := language.Integer(fn, "connections", v, 1, plan.ConnectionsMax)
	t.Connections = uint32(n)
	return err
}

// Sharer is a client whose connections virtual users may share.
type Sharer interface{ Shared() *Target }

// Shared returns where the request goes, if its client says how many connections there are; nil: it does not.
func (r *Request) Shared() (t *Target) {
	switch {
	case r == nil:
	case r.Redis != nil:
		t = r.Redis.Target
	case r.SQL != nil:
		t = r.SQL.Target
	case r.MongoDB != nil:
		t = r.MongoDB.Target
	case r.NATS != nil && r.NATS.Verb < NATSSubscribe: // a session has a connection of its own
		t = r.NATS.Target
	case r.AMQP != nil && r.AMQP.Verb != AMQPConsume:
		t = r.AMQP.Target
	}
	return t.IfShared()
}

// IfShared returns the target; nil: it does not say that virtual users share its connections.
func (t *Target) IfShared() *Target {
	if t == nil || t.Connections == 0 {
		return nil
	}
	return t
}

// Unshared refuses connections of a client whose connections virtual users do not share: why says so.
func Unshared(fn string, kwargs []starlark.Tuple, why, remedy string) error {
	for _, given := range kwargs {
		if name, _ := starlark.AsString(given[0]); name == "connections" {
			return language.Faultf("%s: connections %s", fn, why).In(name).Do("%s", remedy)
		}
	}
	return nil
}

// URL returns the target as it is written, without its user.
func (t *Target) URL() string {
	host := t.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	out := t.Scheme + "://" + host
	if !strings.HasSuffix(t.Scheme, "+srv") { // else SRV records have the ports
		out += ":" + strconv.Itoa(int(t.Port))
	}
	if t.Path != "" {
		out += "/" + t.Path
	}
	return out
}

// near reports whether the target is certainly on the machine that asks.
func (t *Target) near() bool {
	host := *t
	host.Path = ""
	return node.Addr(strings.TrimPrefix(host.URL(), t.Scheme+"://")).Near()
}

// Schemes are those of a protocol's targets.
type Schemes struct {
	Plain, Secure string // Secure: behind TLS; empty: there is none
	Port          uint16 // when the URL has none; 0: it must have one
	SecurePort    uint16 // the same behind TLS; 0: Port
	User, Path    bool   // what a URL may have beside host and port
}

// Read reads the URL of a target.
func (s Schemes) Read(fn string, v starlark.Value) (*Target, error) {
	example := s.Plain + "://host"
	switch {
	case s.Port == 0:
		example += ":7000"
	case s.Plain == "postgres" || s.Plain == "mysql":
		example += "/shop"
		example = strings.Replace(example, "host", "app@host", 1)
	case s.Plain == "mongodb":
		example += "/shop"
	}
	switch v := v.(type) {
	case nil:
		return nil, language.Faultf("%s: the URL is missing", fn).Do("write %s(%q)", fn, example)
	case *secret.Text:
		return nil, language.Faultf("%s: the URL has a secret in it", fn).In("url").Do("write it out; a secret has an argument of its own")
	case starlark.String:
		return s.parse(fn, string(v), example)
	}
	return nil, language.WrongType(fn, "url", "a text", v)
}

// optioned says what to do about the query of a URL.
func optioned(fn, rest string) string {
	_, query, _ := strings.Cut(rest, "?")
	for one := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(one, "=")
		if absent := language.Absent(fn, name); absent != "" {
			return absent
		}
	}
	return "leave out what begins with ? or #"
}

func (s Schemes) parse(fn, text, example string) (*Target, error) {
	shown := text
	if at := strings.LastIndexByte(text, '@'); at >= 0 { // a password may stand before it
		scheme, _, _ := strings.Cut(text, "://")
		shown = scheme + "://***" + text[at:]
	}
	wrong := func(what, remedy string) error {
		return language.Faultf("%s: the URL %q %s", fn, language.Clip(shown, 80), what).In("url").Do("%s", remedy)
	}
	either := s.Plain
	if s.Secure != "" {
		either += " nor " + s.Secure
	}
	remedy := "write " + strconv.Quote(example)
	switch {
	case s.Secure != "":
		remedy += ", or " + s.Secure + ":// for TLS"
	case s.Plain == "postgres":
		remedy += ", or \"mysql://app@host/shop\""
	}
	scheme, rest, found := strings.Cut(text, "://")
	if absent := language.Absent(fn, scheme); found && absent != "" {
		return nil, wrong("has the scheme "+scheme, absent)
	}
	switch {
	case !found:
		return nil, wrong("has no scheme", remedy)
	case scheme != s.Plain && (s.Secure == "" || scheme != s.Secure):
		if s.Secure == "" {
			return nil, wrong("is not of "+s.Plain, remedy)
		}
		return nil, wrong("is neither "+either, remedy)
	case strings.Contains(rest, "${"):
		return nil, wrong("has a value in it, and it is looked up before the run", "write it out, or take it from a param")
	case strings.ContainsAny(rest, "?#"):
		return nil, wrong("has a query or a fragment", optioned(fn, rest))
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, wrong("is not one", remedy)
	}
	t := &Target{Scheme: scheme, Host: u.Hostname(), Port: s.Port, Secure: scheme == s.Secure, Path: strings.TrimPrefix(u.Path, "/")}
	if t.Secure && s.SecurePort != 0 {
		t.Port = s.SecurePort
	}
	if port := u.Port(); port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return nil, wrong("has port "+language.Clip(port, 20), "write a port from 1 to 65535")
		}
		t.Port = uint16(n)
	}
	if u.User != nil {
		t.User = u.User.Username()
		t.Password, _ = u.User.Password()
	}
	switch {
	case t.Host == "" || len(t.Host) > 255 || strings.ContainsFunc(t.Host, notOfHost):
		return nil, wrong("has no host that can be looked up", "write the host in letters, digits, dots and dashes")
	case t.Port == 0:
		return nil, wrong("has no port", remedy)
	case u.User != nil && !s.User:
		return nil, wrong("has a user in it, and "+s.Plain+" has none", remedy)
	case u.Path != "" && u.Path != "/" && !s.Path:
		return nil, wrong("has a path, and "+s.Plain+" has none", remedy)
	}
	return t, nil
}

func notOfHost(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(".-_:%~", r)
}

// SMTP says what a request hands over to a mail server.
type SMTP struct {
	Target         *Target
	Hello          string // how the client calls itself; empty: the usual name
	Mechanism      string // of SASL; empty: nothing proves the user
	User, Password string
	StartTLS       bool // the connection begins in clear, and has TLS before the first message
	Each           int  // messages of a connection; 0: any number
	Secure         SQLSecure
	Sender         string // it may have placeholders, as To, Subject, Body and the values of Headers may
	To             []string
	Subject        *string // nil: none
	Headers        []builtin.Pair
	Body           string
	Attachments    []Attachment
}

// Attachment is a file that a message carries.
type Attachment struct {
	Name string // how the message calls it
	Text string // it may have placeholders
	Data []byte // in place of Text; nil: none
	File *File  // in place of both; nil: none
}

// texts are those of a request that values may stand in.
func (m *SMTP) texts() []*string {
	all := []*string{&m.Sender, &m.Body}
	for i := range m.Attachments {
		all = append(all, &m.Attachments[i].Text)
	}
	for i := range m.To {
		all = append(all, &m.To[i])
	}
	for i := range m.Headers {
		all = append(all, &m.Headers[i].Value)
	}
	if m.Subject != nil {
		all = append(all, m.Subject)
	}
	return all
}

// rewritten returns the request with others in place of its texts.
func (m *SMTP) rewritten(fill func(string) string) *SMTP {
	if m == nil {
		return nil
	}
	out := *m
	out.To, out.Headers, out.Attachments = slices.Clone(m.To), slices.Clone(m.Headers), slices.Clone(m.Attachments)
	if m.Subject != nil {
		own := *m.Subject
		out.Subject = &own
	}
	for _, text := range out.texts() {
		*text = fill(*text)
	}
	return &out
}

// has reports whether look holds for a text of the request that may have words of secrets in it.
func (m *SMTP) has(look func(string) bool) bool {
	if m == nil {
		return false
	}
	return look(m.User) || look(m.Password) || m.Secure.TLS != nil && look(string(m.Secure.TLS.Key)) ||
		slices.ContainsFunc(m.texts(), func(s *string) bool { return look(*s) })
}

// FTP says what a request does with files of an FTP server.
type FTP struct {
	Target         *Target
	User, Password string // empty, both: the anonymous user
	Explicit       bool   // the connection begins in clear, and has TLS before the user logs in
	Secure         SQLSecure
	Verb           FTPVerb
	Path, To, Data string // of a list an empty path is the current directory
	File           *File  // in place of Data
	Names          bool   // of a list: names alone
}

// FTPVerb says what is done with a file.
type FTPVerb uint8

// The verbs.
const (
	FTPGet FTPVerb = iota
	FTPPut
	FTPList
	FTPDelete
	FTPRename
	FTPMkdir
)

// FTPVerbs are their words.
func FTPVerbs() []string { return []string{"get", "put", "list", "delete", "rename", "mkdir"} }

// rewritten returns the request with others in place of its texts.
func (f *FTP) rewritten(fill func(string) string) *FTP {
	if f == nil {
		return nil
	}
	out := *f
	out.Path, out.To, out.Data = fill(f.Path), fill(f.To), fill(f.Data)
	return &out
}

// has reports whether look holds for a text of the request that may have words of secrets in it.
func (f *FTP) has(look func(string) bool) bool {
	return f != nil && (look(f.Password) || look(f.Path) || look(f.To) || look(f.Data) || f.Secure.TLS != nil && look(string(f.Secure.TLS.Key)))
}
