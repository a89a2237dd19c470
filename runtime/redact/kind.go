package redact

import (
	"regexp"
	"strings"
)

// Suspicious reports whether a name suggests that its value is secret: of a header, a
// parameter, a cookie.
func Suspicious(name string) bool {
	name = strings.ToLower(name)
	for _, word := range []string{"auth", "token", "secret", "pass", "key", "cookie", "session", "credential"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

var (
	addressPattern    = regexp.MustCompile(`(?:[a-zA-Z][a-zA-Z0-9+.-]*:/)?/[^\s"'<>\x60]+`)
	credentialPattern = regexp.MustCompile(`(?i)\b((?:proxy-)?authorization|(?:set-)?cookie|x-api-key|api-key|x-auth-token|x-access-token|x-amz-security-token)("?\s*[:=]\s*"?)([^\r\n]+)`)
)

// Address is an address without its user and the values of its query. A text that is none stays.
func Address(address string) string { return addresses(address, true) }

// addresses hides the user of each address in a text, and the values of its query if queries
// is set.
func addresses(text string, queries bool) string {
	if !strings.Contains(text, "://") && !(queries && strings.Contains(text, "?")) {
		return text
	}
	return addressPattern.ReplaceAllStringFunc(text, func(address string) string {
		scheme, rest, ok := strings.Cut(address, "://")
		if ok {
			host, path := rest, ""
			if i := strings.IndexAny(rest, "/?#"); i >= 0 {
				host, path = rest[:i], rest[i:]
			}
			if i := strings.LastIndexByte(host, '@'); i >= 0 {
				host = Hidden + host[i:]
			}
			address = scheme + "://" + host + path
		}
		path, query, ok := strings.Cut(address, "?")
		if !ok || !queries {
			return address
		}
		return path + "?" + hiddenQuery(query)
	})
}

// hiddenQuery keeps the names of a query, and what people wrote in place of a value.
func hiddenQuery(query string) string {
	bare := strings.TrimRight(query, ":,.;)]")
	after := query[len(bare):]
	bare, fragment, has := strings.Cut(bare, "#")
	all := strings.Split(bare, "&")
	for i, one := range all {
		name, value, ok := strings.Cut(one, "=")
		switch {
		case !ok && one != "" && !strings.HasPrefix(one, "${"):
			all[i] = Hidden // a name, or a value without one
		case ok && value != "" && !(strings.HasPrefix(value, "${") && strings.IndexByte(value, '}') == len(value)-1):
			all[i] = name + "=" + Hidden
		}
	}
	if has && fragment != "" {
		after = "#" + Hidden + after
	}
	return strings.Join(all, "&") + after
}

// credentials hides the values of heads of credentials that a text quotes.
func credentials(text string) string {
	if !strings.ContainsAny(text, ":=") {
		return text
	}
	return credentialPattern.ReplaceAllStringFunc(text, func(head string) string {
		if strings.Contains(head, Hidden) {
			return head
		}
		return credentialPattern.ReplaceAllString(head, "${1}${2}"+Hidden)
	})
}

// headLines hides the values of heads of credentials in the lines of a message's head.
func headLines(text string) string {
	head, body, whole := strings.Cut(text, "\r\n\r\n")
	lines := strings.Split(head, "\r\n")
	for i, line := range lines {
		if name, value, ok := strings.Cut(line, ":"); ok && i > 0 {
			lines[i] = name + ":" + Head(name, value)
		}
	}
	if text = strings.Join(lines, "\r\n"); whole {
		text += "\r\n\r\n" + body
	}
	return text
}

// Head is a header's value as people may see it. The scheme of an authorization stays, and the
// names and attributes of cookies.
func Head(name, value string) string {
	lead := value[:len(value)-len(strings.TrimLeft(value, " "))]
	bare := value[len(lead):]
	low := strings.ToLower(strings.TrimSpace(name))
	switch {
	case bare == "":
		return value
	case low == "authorization" || low == "proxy-authorization":
		if scheme, _, ok := strings.Cut(bare, " "); ok {
			return lead + scheme + " " + Hidden
		}
		return lead + Hidden
	case low == "cookie":
		all := strings.Split(bare, ";")
		for i, one := range all {
			all[i] = hiddenPair(one)
		}
		return lead + strings.Join(all, ";")
	case low == "set-cookie":
		first, rest, has := strings.Cut(bare, ";")
		if has {
			rest = ";" + rest
		}
		return lead + hiddenPair(first) + rest
	case low == "www-authenticate" || low == "proxy-authenticate" || !Suspicious(low) || low == ":authority":
		return value
	}
	return lead + Hidden
}

func hiddenPair(pair string) string {
	name, _, ok := strings.Cut(pair, "=")
	if !ok {
		return Hidden
	}
	return name + "=" + Hidden
}
