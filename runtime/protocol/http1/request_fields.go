package http1

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// fields lists the header fields in the order in which they are sent.
func (r Request) fields(u *url.URL, call *Call) ([]Pair, error) {
	own, err := r.checkHeaders(call)
	if err != nil {
		return nil, err
	}
	fields := []Pair{{"Host", hostField(u, call)}}
	if own["host"] {
		fields = nil
	}
	add := func(name, value string) error {
		if own[strings.ToLower(name)] {
			return &InputError{"headers", name, "it is given twice: leave it out here or drop the option that sets it"}
		}
		fields = append(fields, Pair{name, value})
		return nil
	}
	for _, h := range r.Headers {
		fields = append(fields, Pair{h.Name, strings.Trim(h.Value, " \t")})
	}
	if !own["user-agent"] {
		fields = append(fields, Pair{"User-Agent", UserAgent})
	}
	if r.Digest && own["authorization"] {
		return nil, &InputError{"auth", "digest", "leave out it or the header Authorization: it sets that header"}
	}
	if auth, err := r.authorization(u); err != nil {
		return nil, err
	} else if auth != "" {
		if err := add("Authorization", auth); err != nil {
			return nil, err
		}
	}
	if cookie, err := r.cookie(); err != nil {
		return nil, err
	} else if cookie != "" {
		if err := add("Cookie", cookie); err != nil {
			return nil, err
		}
	}
	return r.bodyFields(fields, own, call.Method)
}

func hostField(u *url.URL, call *Call) string {
	host := call.Host
	if strings.Contains(host, ":") {
		// A zone is of this machine only and must not be sent (RFC 6874).
		host, _, _ = strings.Cut(host, "%")
		host = "[" + host + "]"
	}
	if u.Port() == "" || call.Scheme == "http" && call.Port == 80 || call.Scheme == "https" && call.Port == 443 {
		return host
	}
	return host + ":" + strconv.Itoa(int(call.Port))
}

func (r Request) bodyFields(fields []Pair, own map[string]bool, method string) ([]Pair, error) {
	if len(r.Body) > MaxRequestBody {
		return nil, bodyTooLarge(len(r.Body))
	}
	length := len(r.Body) + Inserted(r.Inserts)
	if length > 0 && r.ContentType != "" && !own["content-type"] {
		if !isValue(r.ContentType) {
			return nil, &InputError{"content type", r.ContentType, "remove control characters"}
		}
		fields = append(fields, Pair{"Content-Type", r.ContentType})
	}
	if r.Unsized {
		return fields, nil
	}
	if length > 0 || slices.Contains([]string{"POST", "PUT", "PATCH"}, method) {
		fields = append(fields, Pair{"Content-Length", strconv.Itoa(length)})
	}
	return fields, nil
}

// checkHeaders refuses values that could become a header or a second request, and fields that
// the codec itself writes. It returns the given names in lower case.
func (r Request) checkHeaders(call *Call) (map[string]bool, error) {
	own := make(map[string]bool, len(r.Headers))
	for _, h := range r.Headers {
		name := strings.ToLower(h.Name)
		switch {
		case !isToken(h.Name):
			return nil, &InputError{"header name", h.Name, "use letters, digits and dashes only"}
		case !isValue(h.Value):
			return nil, &InputError{"header " + h.Name, shown(name, h.Value), "remove line ends and control characters"}
		case name == "content-length" || name == "transfer-encoding":
			return nil, &InputError{"header " + h.Name, h.Value, "leave it out: the length is computed from the body"}
		case name == "expect":
			return nil, &InputError{"header " + h.Name, h.Value, "leave it out: the body is sent at once"}
		case name == "host" && (own[name] || !isAuthority(h.Value)):
			return nil, &InputError{"header " + h.Name, h.Value, "give one host, with a port if needed"}
		case name == "connection":
			call.Close = call.Close || hasOption(h.Value, "close")
		}
		own[name] = true
	}
	return own, nil
}

// shown hides values that may be secret: errors end up in logs.
func shown(name, value string) string {
	if name == "authorization" || name == "cookie" || name == "proxy-authorization" {
		return strconv.Itoa(len(value)) + " bytes"
	}
	return value
}

func isAuthority(s string) bool { return s != "" && !strings.ContainsAny(s, " \t,/\\@?#") }

func hasOption(list, option string) bool {
	for part := range strings.SplitSeq(list, ",") {
		if strings.EqualFold(strings.TrimSpace(part), option) {
			return true
		}
	}
	return false
}

func (r Request) authorization(u *url.URL) (string, error) {
	user, password := r.User, r.Password
	if u.User != nil && user == "" && password == "" {
		user = u.User.Username()
		password, _ = u.User.Password()
	}
	basic := user != "" || password != ""
	switch {
	case r.Digest && basic:
		return "", &InputError{"auth", user, "choose digest or a user in the URL, not both"}
	case basic && r.Bearer != "":
		return "", &InputError{"auth", user, "choose basic or bearer, not both"}
	case strings.Contains(user, ":"):
		return "", &InputError{"user", user, "a user name for basic auth holds no colon"}
	case basic:
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password)), nil
	case r.Bearer == "":
		return "", nil
	case !isValue(r.Bearer) || strings.ContainsAny(r.Bearer, " \t"):
		// The value is a secret: the error contains only its length.
		return "", &InputError{"bearer token", strconv.Itoa(len(r.Bearer)) + " bytes", "remove blanks, line ends and control characters"}
	}
	return "Bearer " + r.Bearer, nil
}

func (r Request) cookie() (string, error) {
	var b strings.Builder
	for _, c := range r.Cookies {
		if !isToken(c.Name) {
			return "", &InputError{"cookie name", c.Name, "use letters, digits and dashes only"}
		}
		if !isValue(c.Value) || strings.ContainsAny(c.Value, " ;,\\") {
			return "", &InputError{"cookie " + c.Name, shown("cookie", c.Value), "encode blanks, commas, semicolons and control characters"}
		}
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		b.WriteString(c.Name + "=" + c.Value)
	}
	return b.String(), nil
}

func isToken(s string) bool {
	for i := range len(s) {
		if !tokenChar[s[i]] {
			return false
		}
	}
	return s != ""
}

// isValue accepts the characters of a field value: no control characters except the tab.
func isValue(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}
