package convert

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
)

// secretWords are those whose presence in a name makes its value a secret.
const secretWords = " password passwd passphrase pwd secret token apikey accesskey authorization auth credential credentials session sessionid sess sid jwt csrf xsrf otp pin signature bearer "

// harmless last words of a name: such a name mentions a secret but its value is none.
const harmless = " type kind url uri name expires expiry in length count max enabled required method scheme status "

// IsSecret says whether a value of that name should not be written down.
func IsSecret(name, value string) bool {
	if value == "" || Marked(value) || value == "true" || value == "false" || value == "null" {
		return false
	}
	all := Words(name)
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
func (p *Plan) conceal(s *Step) {
	where := func(what string) string { return what + " of " + s.Name }
	hide := func(all []Pair, what string) {
		for i := range all {
			if p.hideParams(all[i].Name, all[i].Value); IsSecret(all[i].Name, all[i].Value) {
				all[i].Value = p.Secret(Bare(all[i].Name), all[i].Value, where(what))
			}
		}
	}
	p.concealHeaders(s)
	hide(s.Params, "parameter")
	for i, c := range s.Cookies {
		if !Marked(c.Value) && (IsSecret(c.Name, c.Value) || len(c.Value) >= 20) {
			s.Cookies[i].Value = p.Secret("cookie_"+Bare(c.Name), c.Value, where("cookie"))
		}
	}
	if a := s.Auth; a != nil {
		p.hideParams("password", a.Password)
	}
	if a := s.Auth; a != nil && a.Password != "" && !Marked(a.Password) {
		name := "password"
		if a.Bearer {
			name = "token"
		}
		a.Password = p.Secret(name, a.Password, where("authorization"))
	}
	if base, query, ok := strings.Cut(s.Url, "?"); ok {
		s.Url = base + "?" + p.concealQuery(query, where("parameter"))
	}
	switch s.Body.Kind {
	case BodyText:
		p.concealText(s, where("body"))
	case BodyForm:
		hide(s.Body.Form, "form field")
	case BodyMultipart:
		for i, q := range s.Body.Parts {
			if q.File == "" && q.Filename == "" && IsSecret(q.Name, q.Value) {
				s.Body.Parts[i].Value = p.Secret(q.Name, q.Value, where("form field"))
			}
		}
	case BodyJSON:
		p.concealJSON(s.Body.Json, where("body"))
	}
}

// concealText takes them out of a body that stays text: JSON, or a form that is none.
func (p *Plan) concealText(s *Step, where string) {
	if s.Body.Bytes {
		return
	}
	v, err := ParseJSON([]byte(s.Body.Text), false)
	if err == nil {
		s.Body.Text = p.concealValues(s.Body.Text, v, where)
	} else if t := strings.TrimSpace(s.Body.Text); !strings.HasPrefix(t, "{") && !strings.HasPrefix(t, "<") && strings.Contains(t, "=") {
		s.Body.Text = p.concealQuery(s.Body.Text, where)
	}
}

// concealValues takes those out of a text of which it is known what JSON it is.
func (p *Plan) concealValues(text string, v any, where string) string {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			text = p.concealValues(text, e, where)
		}
	case *Object:
		for i, k := range v.Keys {
			if value, ok := v.Values[i].(string); ok && IsSecret(k, value) {
				if written := JsonText(value); strings.Contains(text, written) {
					text = strings.ReplaceAll(text, written, `"`+p.Secret(k, value, where)+`"`)
				}
				continue
			}
			text = p.concealValues(text, v.Values[i], where)
		}
	}
	return text
}

// concealQuery takes them out of what could not be read as pairs.
func (p *Plan) concealQuery(query, where string) string {
	all := strings.Split(query, "&")
	for i, one := range all {
		name, value, ok := strings.Cut(one, "=")
		if ok && !strings.ContainsAny(name, "\n<{") && IsSecret(name, value) {
			all[i] = name + "=" + p.Secret(Bare(name), value, where)
		}
	}
	return strings.Join(all, "&")
}

// hideParams makes secrets of the params that stand where a secret does.
func (p *Plan) hideParams(name, value string) {
	if !Marked(value) || !IsSecret(name, "x") {
		return
	}
	for _, piece := range Pieces(value) {
		i := p.Find(piece.Text)
		if piece.Mark != ParamOpen || i < 0 || p.params[i].real != "" || p.params[i].value == "" {
			continue
		}
		q := &p.params[i]
		if _, _, ok := Origin(q.value); ok || q.value == Placeholder {
			continue
		}
		q.real, q.value = q.value+"\x00", Placeholder
		p.secrets = append(p.secrets, q.name)
	}
}

// concealAgain removes values that were recognized as secrets in another place.
func (p *Plan) concealAgain(s *Step) {
	known := map[string]string{}
	for _, q := range p.params {
		if real := strings.TrimSuffix(q.real, "\x00"); len(real) >= 8 {
			known[real] = q.name
		}
	}
	for _, all := range [][]Pair{s.Headers, s.Params, s.Cookies, s.Body.Form} {
		for i := range all {
			if name, ok := known[all[i].Value]; ok {
				all[i].Value = paramMark(name)
			}
		}
	}
}

func (p *Plan) concealHeaders(s *Step) {
	kept := s.Headers[:0:0]
	for _, h := range s.Headers {
		if !strings.EqualFold(h.Name, "Authorization") && !strings.EqualFold(h.Name, "Proxy-Authorization") {
			if p.hideParams(h.Name, h.Value); IsSecret(h.Name, h.Value) {
				h.Value = p.Secret(strings.TrimPrefix(strings.ToLower(h.Name), "x-"), h.Value, "header "+h.Name)
			}
			kept = append(kept, h)
			continue
		}
		if s.Auth != nil && strings.EqualFold(h.Name, "Authorization") {
			continue // the authorization is that header: it was written by hand before
		}
		scheme, value, ok := strings.Cut(h.Value, " ")
		value = strings.TrimSpace(value)
		switch {
		case strings.EqualFold(scheme, "Bearer") && value != "" && strings.EqualFold(h.Name, "Authorization"):
			s.Auth = &Auth{Bearer: true, Password: value}
			continue
		case strings.EqualFold(scheme, "Basic") && strings.EqualFold(h.Name, "Authorization"):
			if raw, err := base64.StdEncoding.DecodeString(value); err == nil && !Marked(value) {
				user, password, _ := strings.Cut(Clean(string(raw)), ":")
				s.Auth = &Auth{User: user, Password: password}
				continue
			}
		}
		switch {
		case Marked(h.Value) || h.Value == "":
			p.hideParams(h.Name, h.Value)
		case ok && len(Words(scheme)) > 0 && len(scheme) <= 20 && len(value) > 0:
			h.Value = scheme + " " + p.Secret("authorization", value, "header "+h.Name)
		default:
			h.Value = p.Secret("authorization", h.Value, "header "+h.Name)
		}
		kept = append(kept, h)
	}
	s.Headers = kept
}

func (p *Plan) concealJSON(v any, where string) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			p.concealJSON(e, where)
		}
	case *Object:
		for i, k := range v.Keys {
			if text, ok := v.Values[i].(string); ok {
				if p.hideParams(k, text); IsSecret(k, text) {
					v.Values[i] = p.Secret(k, text, where)
				}
				continue
			}
			p.concealJSON(v.Values[i], where)
		}
	}
}

// tellSecrets says which params a person has to set.
func (p *Plan) tellSecrets() {
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
