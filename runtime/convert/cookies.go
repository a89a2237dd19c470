package convert

import (
	"slices"
	"strings"
)

// cookies adds those of a Cookie header.
func (p *plan) cookies(s *step, header string) {
	for _, c := range strings.Split(header, ";") {
		name, value, ok := strings.Cut(strings.TrimSpace(c), "=")
		if name = bare(strings.TrimSpace(name)); name == "" {
			continue
		}
		p.cookie(s, name, value, ok)
	}
}

func (p *plan) cookie(s *step, name, value string, ok bool) {
	value = strings.TrimSpace(value)
	switch {
	case tracker(name):
		p.note("cookies of analytics services are not kept")
	case !ok || !isToken(name) || strings.ContainsAny(value, ";\r\n\x00"):
		p.warn(s, "the cookie %q is none and is not kept", clip(name, 40))
	default:
		if !slices.Contains(s.cookies, pair{name, value}) {
			s.cookies = append(s.cookies, pair{name, value})
		}
	}
}

// rawCookies says whether some are no cookies by the letter, which browsers send all the same:
// they go into a header as they are.
func (p *plan) rawCookies(all []pair) bool {
	return slices.ContainsFunc(all, func(c pair) bool {
		for _, piece := range pieces(c.value) {
			text := piece.text
			if i := p.find(text); piece.mark == paramOpen && i >= 0 {
				text = strings.TrimSuffix(p.params[i].real, "\x00") // what it is going to be set to
			}
			if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f || r == ',' || r == '\\' }) {
				return true
			}
		}
		return false
	})
}

func cookieHeader(all []pair) string {
	var texts []string
	for _, c := range all {
		texts = append(texts, c.name+"="+c.value)
	}
	return strings.Join(texts, "; ")
}
