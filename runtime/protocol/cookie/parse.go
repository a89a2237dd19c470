package cookie

import (
	"bytes"
	"strings"
)

// parse reads a Set-Cookie field (5.6, 5.7); false: it is ignored.
func parse(now int64, host string, from Origin, field []byte) (cookie, bool) {
	for _, b := range field {
		if b < 0x20 && b != '\t' || b == 0x7f {
			return cookie{}, false
		}
	}
	pair, rest, _ := bytes.Cut(field, []byte{';'})
	name, value, found := bytes.Cut(pair, []byte{'='})
	if !found {
		name, value = nil, pair
	}
	name, value = trim(name), trim(value)
	if len(name)+len(value) == 0 || len(name)+len(value) > BytesMax || host == "" {
		return cookie{}, false
	}
	c := cookie{name: string(name), value: string(value), domain: host, hostOnly: true, expires: never}
	a := attributes{}
	a.read(rest, now)
	if a.aged {
		c.expires = a.age
	} else if a.dated {
		c.expires = a.date
	}
	if c.expires != never {
		c.expires = min(c.expires, now+ageMax)
	}
	if !c.home(a.domain, host) {
		return cookie{}, false
	}
	c.path, c.secure = a.path, a.secure
	if len(c.path) == 0 || c.path[0] != '/' {
		c.path = defaultPath(from.Path)
	}
	if c.secure && !from.Secure || !c.keepsPromise(a.path) {
		return cookie{}, false
	}
	return c, true
}

// home says whose cookie it is (5.7, 8 to 10).
func (c *cookie) home(domain, host string) bool {
	if domain == "" || domain == host && isAddress(host) {
		return true
	}
	if isSuffix(domain) {
		return domain == host
	}
	if !domainMatches(host, domain) {
		return false
	}
	c.domain, c.hostOnly = domain, false
	return true
}

// keepsPromise checks a name's prefix against the cookie's attributes (5.7, 20 to 22).
func (c *cookie) keepsPromise(path string) bool {
	low := strings.ToLower(c.name)
	if c.name == "" { // it would be sent as a name with a value
		low = strings.ToLower(c.value)
		return !strings.HasPrefix(low, "__secure-") && !strings.HasPrefix(low, "__host-")
	}
	switch {
	case strings.HasPrefix(low, "__secure-"):
		return c.secure
	case strings.HasPrefix(low, "__host-"):
		return c.secure && c.hostOnly && path == "/"
	}
	return true
}

// attributes are those that matter here. The last of a name counts.
type attributes struct {
	domain, path string
	age, date    int64 // when it expires
	aged, dated  bool
	secure       bool
}

func (a *attributes) read(rest []byte, now int64) {
	for len(rest) > 0 {
		var part []byte
		part, rest, _ = bytes.Cut(rest, []byte{';'})
		name, value, _ := bytes.Cut(part, []byte{'='})
		name, value = trim(name), trim(value)
		if len(value) > attrMax {
			continue
		}
		switch {
		case is(name, "expires"):
			if at, ok := parseDate(value); ok {
				a.date, a.dated = at, true
			}
		case is(name, "max-age"):
			if seconds, ok := parseAge(value); ok {
				a.aged = true
				a.age = now + seconds
				if seconds <= 0 {
					a.age = -never
				}
			}
		case is(name, "domain"):
			a.domain = strings.ToLower(string(bytes.TrimPrefix(value, []byte{'.'})))
		case is(name, "path"):
			a.path = string(value)
		case is(name, "secure"):
			a.secure = true
		}
	}
}

// parseAge reads Max-Age: digits with a sign; more than any age is the largest.
func parseAge(b []byte) (int64, bool) {
	digits := bytes.TrimPrefix(b, []byte{'-'})
	if len(digits) == 0 {
		return 0, false
	}
	var n int64
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = min(n*10+int64(c-'0'), ageMax)
	}
	if len(digits) < len(b) {
		n = -n
	}
	return n, true
}

func is(name []byte, want string) bool {
	return len(name) == len(want) && strings.EqualFold(string(name), want)
}

func trim(b []byte) []byte { return bytes.Trim(b, " \t") }
