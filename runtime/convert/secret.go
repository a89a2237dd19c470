package convert

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
)

// secretWords are those whose presence in a name makes its value a secret.
const secretWords = " password passwd passphrase pwd secret token apikey accesskey authorization auth credential credentials session sessionid sess sid jwt csrf xsrf otp pin signature bearer "

// harmless last words: what they name says something of a secret and is none.
const harmless = " type kind url uri name expires expiry in length count max enabled required method scheme status "

// isSecret says whether a value of that name should not be written down.
func isSecret(name, value string) bool {
	if value == "" || marked(value) || value == "true" || value == "false" || value == "null" {
		return false
	}
	all := words(name)
	if len(all) == 0 || strings.Contains(harmless, " "+all[len(all)-1]+" ") {
		return false
	}
	for i, w := range all {
		if strings.Contains(secretWords, " "+w+" ") {
			return true
		}
		if w == "key" && (i > 0 && strings.Contains(" api access private secret subscription auth license app functions ", " "+all[i-1]+" ") || len(all) == 1 && len(value) >= 16) {
			return true
		}
	}
	return false
}

// tracker says whether a cookie belongs to an analytics service and not to the site.
func tracker(name string) bool {
	n := strings.ToLower(name)
	for _, prefix := range []string{"_ga", "_gid", "_gat", "_gcl", "_fbp", "_fbc", "__utm", "_hj", "ajs_", "optimizely", "intercom-", "_pk_", "amplitude_", "mp_", "_dc_gtm", "_uet", "_pin_unauth", "hubspot", "__hs", "_scid", "_ttp", "__stripe_"} {
		if strings.HasPrefix(n, prefix) {
			return true
		}
	}
	return false
}

// conceal takes the secrets out of a step.
func (p *plan) conceal(s *step) {
	where := func(what string) string { return what + " of " + s.name }
	hide := func(all []pair, what string) {
		for i := range all {
			if p.hideParams(all[i].name, all[i].value); isSecret(all[i].name, all[i].value) {
				all[i].value = p.secret(bare(all[i].name), all[i].value, where(what))
			}
		}
	}
	p.concealHeaders(s)
	hide(s.params, "parameter")
	for i, c := range s.cookies {
		if !marked(c.value) && (isSecret(c.name, c.value) || len(c.value) >= 20) {
			s.cookies[i].value = p.secret("cookie_"+bare(c.name), c.value, where("cookie"))
		}
	}
	if a := s.auth; a != nil {
		p.hideParams("password", a.password)
	}
	if a := s.auth; a != nil && a.password != "" && !marked(a.password) {
		name := "password"
		if a.bearer {
			name = "token"
		}
		a.password = p.secret(name, a.password, where("authorization"))
	}
	if base, query, ok := strings.Cut(s.url, "?"); ok {
		s.url = base + "?" + p.concealQuery(query, where("parameter"))
	}
	switch s.body.kind {
	case bodyText:
		p.concealText(s, where("body"))
	case bodyForm:
		hide(s.body.form, "form field")
	case bodyMultipart:
		for i, q := range s.body.parts {
			if q.file == "" && q.filename == "" && isSecret(q.name, q.value) {
				s.body.parts[i].value = p.secret(q.name, q.value, where("form field"))
			}
		}
	case bodyJSON:
		p.concealJSON(s.body.json, where("body"))
	}
}

// concealText takes them out of a body that stays text: JSON, or a form that is none.
func (p *plan) concealText(s *step, where string) {
	if s.body.bytes {
		return
	}
	v, err := parseJSON([]byte(s.body.text), false)
	if err == nil {
		s.body.text = p.concealValues(s.body.text, v, where)
	} else if t := strings.TrimSpace(s.body.text); !strings.HasPrefix(t, "{") && !strings.HasPrefix(t, "<") && strings.Contains(t, "=") {
		s.body.text = p.concealQuery(s.body.text, where)
	}
}

// concealValues takes those out of a text of which it is known what JSON it is.
func (p *plan) concealValues(text string, v any, where string) string {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			text = p.concealValues(text, e, where)
		}
	case *object:
		for i, k := range v.keys {
			if value, ok := v.values[i].(string); ok && isSecret(k, value) {
				if written := jsonText(value); strings.Contains(text, written) {
					text = strings.ReplaceAll(text, written, `"`+p.secret(k, value, where)+`"`)
				}
				continue
			}
			text = p.concealValues(text, v.values[i], where)
		}
	}
	return text
}

// concealQuery takes them out of what could not be read as pairs.
func (p *plan) concealQuery(query, where string) string {
	all := strings.Split(query, "&")
	for i, one := range all {
		name, value, ok := strings.Cut(one, "=")
		if ok && !strings.ContainsAny(name, "\n<{") && isSecret(name, value) {
			all[i] = name + "=" + p.secret(bare(name), value, where)
		}
	}
	return strings.Join(all, "&")
}

// hideParams makes secrets of the params that stand where a secret does.
func (p *plan) hideParams(name, value string) {
	if !marked(value) || !isSecret(name, "x") {
		return
	}
	for _, piece := range pieces(value) {
		i := p.find(piece.text)
		if piece.mark != paramOpen || i < 0 || p.params[i].real != "" || p.params[i].value == "" {
			continue
		}
		q := &p.params[i]
		if _, _, ok := origin(q.value); ok || q.value == placeholder {
			continue
		}
		q.real, q.value = q.value+"\x00", placeholder
		p.secrets = append(p.secrets, q.name)
	}
}

// concealAgain takes out what was found to be a secret in another place.
func (p *plan) concealAgain(s *step) {
	known := map[string]string{}
	for _, q := range p.params {
		if real := strings.TrimSuffix(q.real, "\x00"); len(real) >= 8 {
			known[real] = q.name
		}
	}
	for _, all := range [][]pair{s.headers, s.params, s.cookies, s.body.form} {
		for i := range all {
			if name, ok := known[all[i].value]; ok {
				all[i].value = paramMark(name)
			}
		}
	}
}

func (p *plan) concealHeaders(s *step) {
	kept := s.headers[:0:0]
	for _, h := range s.headers {
		if !strings.EqualFold(h.name, "Authorization") && !strings.EqualFold(h.name, "Proxy-Authorization") {
			if p.hideParams(h.name, h.value); isSecret(h.name, h.value) {
				h.value = p.secret(strings.TrimPrefix(strings.ToLower(h.name), "x-"), h.value, "header "+h.name)
			}
			kept = append(kept, h)
			continue
		}
		if s.auth != nil && strings.EqualFold(h.name, "Authorization") {
			continue // the authorization is that header: what was written by hand was there before
		}
		scheme, value, ok := strings.Cut(h.value, " ")
		value = strings.TrimSpace(value)
		switch {
		case strings.EqualFold(scheme, "Bearer") && value != "" && strings.EqualFold(h.name, "Authorization"):
			s.auth = &auth{bearer: true, password: value}
			continue
		case strings.EqualFold(scheme, "Basic") && strings.EqualFold(h.name, "Authorization"):
			if raw, err := base64.StdEncoding.DecodeString(value); err == nil && !marked(value) {
				user, password, _ := strings.Cut(clean(string(raw)), ":")
				s.auth = &auth{user: user, password: password}
				continue
			}
		}
		switch {
		case marked(h.value) || h.value == "":
			p.hideParams(h.name, h.value)
		case ok && len(words(scheme)) > 0 && len(scheme) <= 20 && len(value) > 0:
			h.value = scheme + " " + p.secret("authorization", value, "header "+h.name)
		default:
			h.value = p.secret("authorization", h.value, "header "+h.name)
		}
		kept = append(kept, h)
	}
	s.headers = kept
}

func (p *plan) concealJSON(v any, where string) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			p.concealJSON(e, where)
		}
	case *object:
		for i, k := range v.keys {
			if text, ok := v.values[i].(string); ok {
				if p.hideParams(k, text); isSecret(k, text) {
					v.values[i] = p.secret(k, text, where)
				}
				continue
			}
			p.concealJSON(v.values[i], where)
		}
	}
}

// tellSecrets says which params a person has to set.
func (p *plan) tellSecrets() {
	if len(p.secrets) == 0 {
		return
	}
	var sets []string
	for _, name := range p.secrets {
		sets = append(sets, "--set "+name+"=...")
	}
	if len(sets) > 6 {
		sets = append(sets[:6:6], fmt.Sprintf("and %d more", len(p.secrets)-6))
	}
	p.notes = slices.Insert(p.notes, 0, fmt.Sprintf("what is secret or not known here is not in the file: run it with %s", strings.Join(sets, " ")))
}
