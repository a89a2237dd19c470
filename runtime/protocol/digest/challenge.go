package digest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Bounds of what a server may ask.
const (
	ChallengeMax = 8 << 10 // bytes of all fields together
	paramsMax    = 64      // of all challenges together
)

// ErrNone says that no field offers digest authentication.
var ErrNone = errors.New("the server offers no digest authentication")

// Algorithm is the hash function of a challenge, and whether the hash of the password depends on
// both nonces (-sess).
type Algorithm uint8

// The algorithms that servers use. RFC 7616 also names SHA-512-256.
const (
	Unnamed Algorithm = iota // MD5, and the proof names none either
	MD5
	MD5Sess
	SHA256
	SHA256Sess
)

// names are those of the algorithms, in their order.
func names() []string { return []string{"", "MD5", "MD5-sess", "SHA-256", "SHA-256-sess"} }

func (a Algorithm) sess() bool { return a == MD5Sess || a == SHA256Sess }

// Challenge is what a server asks for.
type Challenge struct {
	Realm, Nonce string
	Opaque       *string // nil: the server sent none
	Algorithm    Algorithm
	Auth         bool // qop=auth; else the proof has no nonce count
	Stale        bool // the password was right, the nonce was too old
	UserHash     bool // the server wants the user's name hashed
}

// Parse returns the first challenge that a proof can answer, as the server prefers it.
func Parse(fields []string) (Challenge, error) {
	size := 0
	for _, f := range fields {
		size += len(f)
	}
	if size > ChallengeMax {
		return Challenge{}, fmt.Errorf("the server's challenge has %d bytes, more than %d", size, ChallengeMax)
	}
	why := ErrNone
	p := parser{}
	for _, f := range fields {
		p.text = f
		for {
			scheme, params, err := p.challenge()
			if err != nil {
				return Challenge{}, err
			}
			if scheme == "" {
				break
			}
			if !strings.EqualFold(scheme, "Digest") {
				continue
			}
			c, err := read(params)
			if err == nil {
				return c, nil
			}
			if why == ErrNone {
				why = err
			}
		}
	}
	return Challenge{}, why
}

// read judges the parameters of a challenge.
func read(params []param) (c Challenge, err error) {
	seen := map[string]bool{}
	qop, offers := "", false
	for _, p := range params {
		name := strings.ToLower(p.name)
		if seen[name] {
			return c, fmt.Errorf("the server's challenge has %s twice", quoted(p.name))
		}
		seen[name] = true
		switch name {
		case "realm":
			c.Realm = p.value
		case "nonce":
			c.Nonce = p.value
		case "opaque":
			c.Opaque = &p.value
		case "stale":
			c.Stale = strings.EqualFold(p.value, "true")
		case "userhash":
			c.UserHash = strings.EqualFold(p.value, "true")
		case "algorithm":
			if err = c.hashes(p.value); err != nil {
				return c, err
			}
		case "qop":
			qop, offers = p.value, true
		}
	}
	if !seen["realm"] || c.Nonce == "" {
		return c, errors.New("the server's challenge has no realm or no nonce")
	}
	for option := range strings.SplitSeq(qop, ",") {
		c.Auth = c.Auth || strings.EqualFold(strings.Trim(option, " \t"), "auth")
	}
	if offers && !c.Auth {
		return c, fmt.Errorf("the server wants qop = %s, and hyperscale proves with auth alone: auth-int would hash each body again for each request, which costs what the load should get", quoted(qop))
	}
	return c, nil
}

// hashes takes the name of an algorithm.
func (c *Challenge) hashes(name string) error {
	for i, known := range names() {
		if known != "" && strings.EqualFold(name, known) {
			c.Algorithm = Algorithm(i)
			return nil
		}
	}
	return fmt.Errorf("the server wants the algorithm %s, and hyperscale has MD5, SHA-256 and their -sess", quoted(name))
}

// quoted shows a server's text in an error: short, and without control characters.
func quoted(s string) string {
	const most = 40
	if len(s) > most {
		return strconv.Quote(s[:most]) + "..."
	}
	return strconv.Quote(s)
}

type param struct{ name, value string }

// parser reads a list of challenges: scheme, and then either one token68 or parameters.
type parser struct {
	text  string // what is left
	count int    // of parameters
}

var errForm = errors.New("the server's challenge is malformed")

// challenge reads the next challenge; no scheme: there is none.
func (p *parser) challenge() (scheme string, params []param, err error) {
	p.skip(" \t,")
	if p.text == "" {
		return "", nil, nil
	}
	if scheme = p.token(); scheme == "" {
		return "", nil, errForm
	}
	if p.text != "" && strings.IndexByte(" \t,", p.text[0]) < 0 {
		return "", nil, errForm
	}
	p.skip(" \t")
	if p.token68() {
		return scheme, nil, nil
	}
	for {
		before := p.text
		p.skip(" \t,")
		name := p.token()
		p.skip(" \t")
		if name == "" || p.text == "" || p.text[0] != '=' { // the next scheme, or the end
			if name == "" && p.text != "" {
				return "", nil, errForm
			}
			p.text = before
			return scheme, params, nil
		}
		p.text = p.text[1:]
		p.skip(" \t")
		value, ok := p.value()
		if p.count++; !ok || p.count > paramsMax {
			return "", nil, errForm
		}
		params = append(params, param{name, value})
		if p.skip(" \t"); p.text != "" && p.text[0] != ',' {
			return "", nil, errForm
		}
	}
}

func (p *parser) skip(set string) { p.text = strings.TrimLeft(p.text, set) }

func (p *parser) token() string {
	n := 0
	for n < len(p.text) && tokenChar(p.text[n]) {
		n++
	}
	token := p.text[:n]
	p.text = p.text[n:]
	return token
}

// token68 skips one that stands alone behind its scheme.
func (p *parser) token68() bool {
	n := 0
	for n < len(p.text) && (letter(p.text[n]) || strings.IndexByte("-._~+/", p.text[n]) >= 0) {
		n++
	}
	if n == 0 {
		return false
	}
	rest := strings.TrimLeft(strings.TrimLeft(p.text[n:], "="), " \t")
	if rest != "" && rest[0] != ',' {
		return false
	}
	p.text = rest
	return true
}

// value reads a token or a quoted text. Neither has a control character.
func (p *parser) value() (string, bool) {
	if p.text == "" || p.text[0] != '"' {
		token := p.token()
		return token, token != ""
	}
	var out strings.Builder
	for i := 1; i < len(p.text); i++ {
		c := p.text[i]
		switch {
		case c == '"':
			p.text = p.text[i+1:]
			return out.String(), true
		case c == '\\' && i+1 < len(p.text):
			i++
			c = p.text[i]
		}
		if c < ' ' || c == 0x7f {
			return "", false
		}
		out.WriteByte(c)
	}
	return "", false
}

func letter(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9'
}

func tokenChar(c byte) bool { return letter(c) || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0 }
