package mongodb

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/request"
)

// Schemes are those of mongodb.client. The path is the database.
func Schemes() request.Schemes {
	return request.Schemes{Plain: "mongodb", Port: 27017, User: true, Path: true}
}

// services are the URLs whose host's SRV records name the servers.
func services() request.Schemes {
	return request.Schemes{Plain: "mongodb+srv", Port: 27017, User: true, Path: true}
}

const (
	serviceScheme = "mongodb+srv://"
	serviceParts  = 3 // that its name has at least: the servers' names end with all but the first
)

// ByCertificate is the mechanism of users whom the certificate of TLS proves, and External the database that knows
// them.
const (
	ByCertificate = "mongodb-x509"
	External      = "$external"
)

// mechanisms are the words of mechanism.
func mechanisms() []string { return []string{"scram-sha-256", "scram-sha-1", ByCertificate} }

// Address takes what the URL of a server says.
func Address(fn, text string) (request.MongoDB, error) { return address(fn, starlark.String(text)) }

// address reads a URL, and its options.
func address(fn string, v starlark.Value) (m request.MongoDB, err error) {
	given, ok := v.(starlark.String)
	if !ok {
		_, err := Schemes().Read(fn, v)
		return m, err
	}
	text, query, _ := strings.Cut(string(given), "?")
	_, rest, _ := strings.Cut(text, "://")
	host, _, _ := strings.Cut(rest[strings.LastIndexByte(rest, '@')+1:], "/")
	wrong := func(what, remedy string) error {
		return language.Faultf("%s: the URL %s", fn, what).In("url").Do("%s", remedy)
	}
	schemes, service := Schemes(), strings.HasPrefix(text, serviceScheme)
	switch {
	case strings.Contains(host, ",") && balanced(query):
		return m, wrong("has loadBalanced=true and several hosts", "write the host of the load balancer alone, or take loadBalanced out")
	case strings.Contains(host, ","):
		return m, wrong("has several hosts: not as yet", "name the set's primary alone, or write mongodb+srv:// with the name whose SRV records have them")
	case service && strings.Contains(host, ":"):
		return m, wrong("has a port, and SRV records have those of its servers", "take the port out, or write mongodb://")
	case service && strings.Count(strings.Trim(host, "."), ".") < serviceParts-1:
		return m, wrong("has a name of fewer than three parts", "write mongodb+srv://cluster.example.org/shop")
	case service:
		schemes = services()
	}
	t, err := schemes.Read(fn, starlark.String(text))
	if err != nil {
		return m, err
	}
	t.Host = strings.TrimSuffix(t.Host, ".")
	m = request.MongoDB{Target: t, User: t.User, Password: t.Password, Service: service}
	t.Secure = service // unless tls=false
	if t.User, t.Password = "", ""; m.User == "" && m.Password != "" {
		return m, wrong("has a password and no user", "write mongodb.client(\"mongodb://app@host/shop\", password = secret(\"mongodb\"))")
	}
	return m, options(&m, query, wrong)
}

// balanced reports whether the options of a URL have a load balancer.
func balanced(query string) bool {
	m := request.MongoDB{Target: new(request.Target)}
	_ = options(&m, query, func(what, _ string) error { return language.Faultf("%s", what) }) // another one is wrong, too
	return m.Balanced == "true"
}

// options reads those of a URL.
func options(m *request.MongoDB, query string, wrong func(what, remedy string) error) error {
	if query == "" {
		return nil
	}
	const known = "tls, authSource, authMechanism, replicaSet and loadBalanced are known: leave it out"
	for one := range strings.SplitSeq(query, "&") {
		name, escaped, _ := strings.Cut(one, "=")
		value, err := url.QueryUnescape(escaped)
		if err != nil {
			return wrong("has an option that cannot be read", known)
		}
		switch strings.ToLower(name) {
		case "tls", "ssl":
			if value != "true" && value != "false" {
				return wrong("has "+name+"="+language.Clip(value, 40), "write tls=true or tls=false")
			}
			m.Target.Secure = value == "true"
		case "authsource":
			m.Source = value
		case "authmechanism":
			m.Mechanism = strings.ToLower(value)
			if !slices.Contains(mechanisms(), m.Mechanism) {
				return wrong("has authMechanism="+language.Clip(value, 40)+": not as yet", "write SCRAM-SHA-256, SCRAM-SHA-1 or MONGODB-X509")
			}
		case "replicaset":
			if m.Set = value; value == "" {
				return wrong("has replicaSet without a name", "write replicaSet=rs0 with the set's name, or leave it out")
			}
		case "loadbalanced":
			if m.Balanced = value; value != "true" && value != "false" {
				return wrong("has loadBalanced="+language.Clip(value, 40), "write loadBalanced=true or loadBalanced=false")
			}
		default:
			return wrong("has the option "+language.Clip(name, 40), cmp.Or(language.Absent("mongodb", name), known))
		}
	}
	if m.Balanced == "true" && m.Set != "" {
		return wrong("has loadBalanced=true and replicaSet="+language.Clip(m.Set, 40), "take replicaSet out: the load balancer chooses the server")
	}
	return nil
}

// target reads a URL, or the result of mongodb.client.
func target(fn string, v starlark.Value) (m request.MongoDB, err error) {
	if c, ok := v.(*client); ok {
		m = c.of
		if err = c.fill(&m); err != nil {
			return m, err
		}
	} else {
		if _, ok := v.(starlark.String); !ok && v != nil {
			return m, language.WrongType(fn, "target", "a URL or the result of mongodb.client", v).Do("write %s(\"mongodb://host/shop\", ...)", fn)
		}
		if m, err = address(fn, v); err != nil {
			return m, err
		}
		if m.User != "" && m.Password == "" && m.Mechanism != ByCertificate {
			return m, language.Faultf("%s: the URL has a user and no password", fn).In("url").Do("write mongodb.client(\"mongodb://app@host/shop\", password = secret(\"mongodb\"))")
		}
	}
	return m, Complete(fn, &m)
}

// Complete fills in what a target leaves to its rules, and rejects one that lacks something.
func Complete(fn string, m *request.MongoDB) error {
	path := m.Target.Path
	if path == "" {
		return language.Faultf("%s: the URL has no database", fn).In("url").Do("write mongodb://host/shop")
	}
	if strings.ContainsAny(path, "/\\. \"$\x00") || len(path) > 63 {
		return language.Faultf("%s: %q is no name of a database", fn, language.Clip(path, 40)).In("url").Do("write mongodb://host/shop")
	}
	if m.Mechanism == ByCertificate {
		return certified(fn, m)
	}
	if m.User == "" {
		m.Mechanism, m.Source = "", ""
		return nil
	}
	if m.Mechanism == "" {
		m.Mechanism = mechanisms()[0]
	}
	if m.Source == "" {
		m.Source, m.Assumed = path, true // as MongoDB's URLs have it
	}
	return nil
}

// certified checks what a user who is proved by a certificate needs.
func certified(fn string, m *request.MongoDB) error {
	switch {
	case m.Password != "":
		return language.Faultf("%s proves its user by a certificate and by a password", fn).In("mechanism").Do("take the password out, or %s", ByCertificate)
	case m.Source != "" && m.Source != External:
		return language.Faultf("%s looks in %q for a user whom %s knows", fn, language.Clip(m.Source, 40), External).In("auth_source").Do("leave it out")
	case m.Secure.TLS == nil || len(m.Secure.TLS.Certificate) == 0:
		return language.Faultf("%s has the mechanism %s, and no certificate proves the user", fn, ByCertificate).In("tls").
			Do("write mongodb.client(\"mongodb://host/shop\", mechanism = %q, tls = tls(certificate = file(\"client.pem\"), key = secret(\"key\")))", ByCertificate)
	}
	m.Source = External
	return nil
}
