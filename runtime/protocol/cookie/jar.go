package cookie

import (
	"slices"
	"strings"
)

// Bounds of a jar (RFC 6265bis, 6.1, asks for at least 50 of a domain).
const (
	CookiesMax = 300
	DomainMax  = 50
	BytesMax   = 4096      // of name and value together
	attrMax    = 1024      // of an attribute's value
	ageMax     = 400 * day // of a cookie that does not say, or says more
	headerMax  = 16 << 10  // of what Append adds
	day        = 24 * 3600
)

// never is the expiry of a cookie that lasts as long as its session.
const never = 1<<63 - 1

// cookie is one of them. Times are seconds since 1970.
type cookie struct {
	name, value  string
	domain, path string
	expires      int64
	born, used   uint64 // in the order of the jar's events
	hostOnly     bool
	secure       bool
}

// Jar holds a virtual user's cookies.
type Jar struct {
	cookies []cookie
	events  uint64
}

// Len is the number of cookies, expired ones included.
func (j *Jar) Len() int { return len(j.cookies) }

// Clear forgets all of them.
func (j *Jar) Clear() { clear(j.cookies); j.cookies = j.cookies[:0] }

// Origin is where a request goes.
type Origin struct {
	Secure bool   // https
	Host   string // without port and brackets
	Path   string // with or without the query
}

// Set takes the value of one Set-Cookie field that came from there at that time.
func (j *Jar) Set(now int64, from Origin, field []byte) {
	host := strings.ToLower(from.Host)
	c, ok := parse(now, host, from, field)
	if !ok || !from.Secure && j.covers(&c, now) {
		return
	}
	j.events++
	c.born, c.used = j.events, j.events
	at := slices.IndexFunc(j.cookies, func(o cookie) bool {
		return o.name == c.name && o.domain == c.domain && o.path == c.path && o.hostOnly == c.hostOnly
	})
	switch {
	case at >= 0 && c.expires <= now:
		j.drop(at)
	case at >= 0:
		c.born = j.cookies[at].born
		j.cookies[at] = c
	case c.expires > now:
		j.room(&c, now)
		j.cookies = append(j.cookies, c)
	}
}

// covers says whether a cookie from an insecure origin would hide a secure one.
func (j *Jar) covers(c *cookie, now int64) bool {
	for i := range j.cookies {
		o := &j.cookies[i]
		if o.secure && o.expires > now && o.name == c.name && pathMatches(c.path, o.path) &&
			(domainMatches(o.domain, c.domain) || domainMatches(c.domain, o.domain)) {
			return true
		}
	}
	return false
}

func (j *Jar) drop(at int) {
	last := len(j.cookies) - 1
	j.cookies[at] = j.cookies[last]
	j.cookies[last] = cookie{}
	j.cookies = j.cookies[:last]
}

// room makes place for one more.
func (j *Jar) room(c *cookie, now int64) {
	same := 0
	for i := range j.cookies {
		if j.cookies[i].domain == c.domain {
			same++
		}
	}
	if same < DomainMax && len(j.cookies) < CookiesMax {
		return
	}
	for i := len(j.cookies) - 1; i >= 0; i-- {
		if j.cookies[i].expires <= now {
			if j.cookies[i].domain == c.domain {
				same--
			}
			j.drop(i)
		}
	}
	if same >= DomainMax {
		j.displace(func(o *cookie) bool { return o.domain == c.domain })
	}
	if len(j.cookies) >= CookiesMax {
		j.displace(func(*cookie) bool { return true })
	}
}

// displace drops the one of these that is missed the least.
func (j *Jar) displace(of func(*cookie) bool) {
	worst := -1
	for i := range j.cookies {
		o := &j.cookies[i]
		if !of(o) {
			continue
		}
		if worst < 0 || j.cookies[worst].secure && !o.secure || j.cookies[worst].secure == o.secure && o.used < j.cookies[worst].used {
			worst = i
		}
	}
	if worst >= 0 {
		j.drop(worst)
	}
}

// Append adds the cookies for a place and a time, as in a Cookie field: "a=b; c=d". Longer
// paths come first, then older cookies. own holds the request's own cookies in the same form:
// Append leaves the jar's cookies of these names out.
func (j *Jar) Append(dst []byte, now int64, to Origin, own []byte) []byte {
	if len(j.cookies) == 0 {
		return dst
	}
	host, path := strings.ToLower(to.Host), pathOf(to.Path)
	var found [CookiesMax]uint16
	n := 0
	for i := range j.cookies {
		c := &j.cookies[i]
		if c.expires > now && (!c.secure || to.Secure) && (c.domain == host || !c.hostOnly && domainMatches(host, c.domain)) &&
			pathMatches(path, c.path) && !names(own, c.name) {
			found[n] = uint16(i)
			n++
		}
	}
	slices.SortFunc(found[:n], func(a, b uint16) int {
		x, y := &j.cookies[a], &j.cookies[b]
		if d := len(y.path) - len(x.path); d != 0 {
			return d
		}
		return int(int64(x.born) - int64(y.born))
	})
	j.events++
	start := len(dst)
	for _, i := range found[:n] {
		c := &j.cookies[i]
		if len(dst)-start+len(c.name)+len(c.value) > headerMax {
			break
		}
		c.used = j.events
		if len(dst) > start {
			dst = append(dst, "; "...)
		}
		if c.name != "" {
			dst = append(append(dst, c.name...), '=')
		}
		dst = append(dst, c.value...)
	}
	return dst
}

// names says whether a Cookie field contains that name.
func names(field []byte, name string) bool {
	for len(field) > 0 {
		end := 0
		for end < len(field) && field[end] != ';' {
			end++
		}
		part := field[:end]
		for len(part) > 0 && part[0] == ' ' {
			part = part[1:]
		}
		if len(part) > len(name) && part[len(name)] == '=' && string(part[:len(name)]) == name {
			return true
		}
		if end == len(field) {
			break
		}
		field = field[end+1:]
	}
	return false
}
