package convert

import (
	"hyperscale/core/workflow/language"
	"slices"
	"strings"
)

// cookies adds those of a Cookie header.
func (p *Plan) cookies(s *Step, header string) {
	for _, c := range strings.Split(header, ";") {
		name, value, ok := strings.Cut(strings.TrimSpace(c), "=")
		if name = Bare(strings.TrimSpace(name)); name == "" {
			continue
		}
		p.Cookie(s, name, value, ok)
	}
}

func (p *Plan) Cookie(s *Step, name, value string, ok bool) {
	value = strings.TrimSpace(value)
	switch {
	case tracker(name):
		p.Note("cookies of analytics services are not kept")
	case !ok || !IsToken(name) || strings.ContainsAny(value, ";\r\n\x00"):
		p.Warn(s, "the cookie %q is none and is not kept", language.Clip(name, 40))
	default:
		if !slices.Contains(s.Cookies, Pair{name, value}) {
			s.Cookies = append(s.Cookies, Pair{name, value})
		}
	}
}

// rawCookies says whether some are no cookies by the letter, which browsers send all the same:
// they go into a header as they are.
func (p *Plan) rawCookies(all []Pair) bool {
	return slices.ContainsFunc(all, func(c Pair) bool {
		for _, piece := range Pieces(c.Value) {
			text := piece.Text
			if i := p.Find(text); piece.Mark == ParamOpen && i >= 0 {
				text = strings.TrimSuffix(p.params[i].real, "\x00") // what it is going to be set to
			}
			if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f || r == ',' || r == '\\' }) {
				return true
			}
		}
		return false
	})
}

func cookieHeader(all []Pair) string {
	var texts []string
	for _, c := range all {
		texts = append(texts, c.Name+"="+c.Value)
	}
	return strings.Join(texts, "; ")
}
