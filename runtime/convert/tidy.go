package convert

import (
	"errors"
	"fmt"
	"hyperscale/core/workflow/language"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// ErrNothing is returned for a source in which no request is left.
var ErrNothing = errors.New("no request is in it")

// Finish makes the file of a plan whose steps are shaped.
func (p *Plan) Finish() (*File, error) {
	if len(p.Steps) == 0 {
		why := ": give one with an http or https address"
		if len(p.notes) > 0 {
			why = ": " + strings.Join(p.notes[:min(len(p.notes), 5)], "; ")
		}
		return nil, fmt.Errorf("%w that could be kept%s", ErrNothing, why)
	}
	if len(p.Steps) > StepsMax {
		p.Note("the first %d of %d requests are in the file: more are no test that a person reads", StepsMax, len(p.Steps))
		p.Steps = p.Steps[:StepsMax]
	}
	p.tellAdded()
	p.nameSteps()
	for _, s := range p.Steps {
		p.conceal(s)
	}
	for _, s := range p.Steps {
		p.concealAgain(s)
		joinQuery(s)
	}
	p.hoist()
	for {
		p.prune()
		if file := (writer{p}).file(); len(file.Text) <= textMax || len(p.Steps) == 1 {
			p.tellSecrets()
			file.Notes = p.notes
			return file, nil
		}
		p.Steps = p.Steps[:len(p.Steps)/2]
		p.Note("the first %d requests are in the file: with more of them it would be larger than a workflow file may be", len(p.Steps))
	}
}

// prune drops params that no step uses any longer.
func (p *Plan) prune() {
	text := strings.Builder{}
	for _, n := range (writer{p}).list() {
		n.value.print(&text, 0, 0)
	}
	used := text.String()
	for _, c := range (writer{p}).client() {
		used += c.key
		var b strings.Builder
		c.value.print(&b, 0, 0)
		used += b.String()
	}
	isUsed := func(name string) bool {
		for rest := used; ; {
			i := strings.Index(rest, name)
			if i < 0 {
				return false
			}
			if (i == 0 || !InName(rest[i-1])) && (i+len(name) == len(rest) || !InName(rest[i+len(name)])) {
				return true
			}
			rest = rest[i+len(name):]
		}
	}
	p.params = slices.DeleteFunc(p.params, func(q param) bool { return !isUsed(q.name) })
	p.secrets = slices.DeleteFunc(p.secrets, func(name string) bool { return p.Find(name) < 0 })
	slices.SortStableFunc(p.params, func(a, b param) int { return rank(a) - rank(b) })
}

// tellAdded says which headers a browser has added that a server may look at.
func (p *Plan) tellAdded() {
	slices.Sort(p.added)
	if p.added = slices.Compact(p.added); len(p.added) > 0 {
		p.Note("what browsers add by themselves is not kept: %s; write headers = {...} where the server wants one", strings.Join(p.added, ", "))
	}
}

func rank(q param) int {
	if strings.HasPrefix(q.name, "target") {
		return 0
	}
	return 1
}

func InName(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// Add shapes a step and keeps it, or says why not.
func (p *Plan) Add(s *Step) bool {
	s.Method = strings.TrimSpace(Clean(s.Method))
	if s.Method == "" {
		s.Method = "GET"
	}
	if upper := strings.ToUpper(s.Method); http.MethodGet == upper || strings.Contains(" POST PUT PATCH DELETE HEAD OPTIONS ", " "+upper+" ") {
		s.Method = upper
	}
	if why := p.shape(s); why != "" {
		p.Note("left out %s %s: %s", language.Clip(s.Method, 20), Shown(s.Url), why)
		return false
	}
	p.shapeHeaders(s)
	p.shapeBody(s)
	p.Steps = append(p.Steps, s)
	return true
}

// shape takes a step's URL apart; it returns why that cannot be kept.
func (p *Plan) shape(s *Step) string {
	if !IsToken(s.Method) || len(s.Method) > 32 {
		return "its method is none"
	}
	address, _, _ := strings.Cut(markedURL(strings.TrimSpace(s.Url)), "#")
	if len(address) > 8000 {
		return "its URL is longer than 8000 characters"
	}
	address = p.rooted(address)
	base, query, asks := strings.Cut(address, "?")
	if asks {
		if all, ok := splitQuery(query); ok {
			s.Params, asks = append(all, s.Params...), false
		}
	}
	if s.Url = base; asks && query != "" {
		s.Url += "?" + query
	}
	for i := range s.Params {
		if Marked(s.Params[i].Name) {
			s.Params[i].Name = p.Resolved(s.Params[i].Name)
		}
	}
	s.Params = slices.DeleteFunc(s.Params, func(q Pair) bool {
		if q.Name == "" && q.Value != "" {
			p.Warn(s, "a parameter of its query without a name is not kept: %s", language.Clip(q.Value, 40))
		}
		return q.Name == ""
	})
	full := p.resolvedURL(s.Url)
	if _, err := url.Parse(full); err != nil {
		return "its URL is not one"
	}
	if _, _, ok := Origin(full); !ok {
		return "its URL has no host, or a port that is not from 1 to 65535"
	}
	return ""
}

// rooted puts a param in the place of scheme and host.
func (p *Plan) rooted(address string) string {
	if host, rest, ok := Origin(address); ok {
		name := "target"
		if i := p.Find(name); i >= 0 && p.params[i].value != host {
			u, _ := url.Parse(host)
			label := strings.TrimPrefix(u.Hostname(), "www.")
			label, _, _ = strings.Cut(label, ".")
			name += "_" + label
		}
		help := "server under test"
		if name != "target" {
			help = "another server that is asked"
		}
		if rest == "" || rest[0] == '?' {
			rest = "/" + rest
		}
		return p.Param(name, host, help) + rest
	}
	all := Pieces(address)
	if len(all) == 0 || all[0].Mark != ParamOpen {
		return address
	}
	i := p.Find(all[0].Text)
	if i < 0 {
		return address
	}
	q := &p.params[i]
	if _, _, ok := Origin(q.value); ok {
		q.value = strings.TrimRight(q.value, "/")
	} else if !strings.Contains(q.value, "://") && q.value != "" && q.value != Placeholder && PlainHost(q.value) {
		return "http://" + address
	} else {
		p.Note("where the requests go is not known: set it with --set %s=http://host", q.name)
		q.value, q.real, q.help = Anywhere, "", "server under test"
		p.secrets = slices.DeleteFunc(p.secrets, func(s string) bool { return s == q.name })
	}
	_, path, _ := Origin(q.value)
	if rest := strings.TrimPrefix(address, paramMark(q.name)); path == "" && (rest == "" || rest[0] == '?') {
		return paramMark(q.name) + "/" + rest
	}
	return address
}

// resolvedURL returns the value of the writer's text of a URL.
func (p *Plan) resolvedURL(s string) string {
	var b strings.Builder
	for i, piece := range Pieces(s) {
		switch {
		case piece.Mark == 0:
			b.WriteString(piece.Text)
		case piece.Mark == valueOpen:
			b.WriteString("value")
		default:
			if at := p.Find(piece.Text); at >= 0 && i > 0 && p.escapes(piece.Text) {
				b.WriteString(url.QueryEscape(p.params[at].value))
			} else if at >= 0 {
				b.WriteString(p.params[at].value)
			}
		}
	}
	return b.String()
}

// escapes says whether a param's value needs escaping in a URL.
func (p *Plan) escapes(name string) bool {
	i := p.Find(name)
	if i < 0 {
		return false
	}
	v := p.params[i].value
	return UrlText(v) != v || strings.ContainsAny(v, "?#%")
}

func splitQuery(query string) ([]Pair, bool) {
	var all []Pair
	if computed(query) {
		return nil, false
	}
	for _, part := range strings.Split(query, "&") {
		if part == "" {
			continue
		}
		name, value, ok := strings.Cut(part, "=")
		if !ok || name == "" {
			return nil, false
		}
		name, err := url.QueryUnescape(name)
		if err != nil {
			return nil, false
		}
		if value, err = url.QueryUnescape(value); err != nil || !utf8.ValidString(name) || !utf8.ValidString(value) {
			return nil, false // bytes that are no text stay escaped as they are
		}
		all = append(all, Pair{Clean2(name), Clean2(value)})
	}
	return all, true
}

// Clean2 makes what an escape said valid, and leaves marks.
func Clean2(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// joinQuery writes a single short parameter where a person would: in the URL.
func joinQuery(s *Step) {
	if len(s.Params) != 1 || strings.Contains(s.Url, "?") {
		return
	}
	q := s.Params[0]
	if Marked(q.Name+q.Value) || len(q.Name)+len(q.Value) > 40 {
		return
	}
	s.Url += "?" + url.QueryEscape(q.Name) + "=" + url.QueryEscape(q.Value)
	s.Params = nil
}

// noise are headers that say something of the connection, or of a browser.
const noise = " host authority connection content-length transfer-encoding keep-alive proxy-connection te trailer upgrade expect "

// browserNoise is what only a browser's cache and settings say.
const browserNoise = " upgrade-insecure-requests dnt priority save-data purpose x-client-data if-none-match if-modified-since "

func (p *Plan) shapeHeaders(s *Step) {
	var kept []Pair
	for _, h := range s.Headers {
		h.Name, h.Value = strings.TrimSpace(Bare(h.Name)), HeaderValue(h.Value)
		lower := strings.ToLower(h.Name)
		if h.Name == lower {
			h.Name = http.CanonicalHeaderKey(lower)
		}
		switch {
		case lower == "" || lower[0] == ':':
			continue
		case strings.HasPrefix(lower, "sec-fetch-"), strings.HasPrefix(lower, "sec-ch-"), strings.HasPrefix(lower, "sec-websocket-"), lower == "sec-gpc", lower == "sec-purpose":
			continue
		case lower == "accept-encoding":
			if p.Compress = p.Compress || strings.Contains(h.Value, "gzip"); !p.Browser && !strings.Contains(h.Value, "gzip") {
				kept = append(kept, h)
			}
			continue
		case lower == "host":
			if !p.Browser && !Marked(h.Value) && !strings.Contains(p.Resolved(s.Url), "://"+h.Value) && PlainHost(h.Value) && h.Value != "" {
				kept = append(kept, h)
			}
			continue
		case lower == "cookie":
			p.cookies(s, h.Value)
			continue
		case strings.Contains(noise, " "+lower+" "), lower == "accept" && h.Value == "*/*", p.Browser && strings.Contains(browserNoise, " "+lower+" "):
			continue
		case p.Browser && strings.Contains(" user-agent referer pragma cache-control accept-language ", " "+lower+" "),
			p.Browser && lower == "origin" && (s.Method == "GET" || s.Method == "HEAD"):
			p.added = append(p.added, http.CanonicalHeaderKey(lower))
			continue
		case !IsToken(h.Name):
			p.Warn(s, "the header %q is none and is not kept", language.Clip(h.Name, 40))
			continue
		case len(h.Value) > 8000:
			p.Warn(s, "the header %s has %d characters and is not kept", h.Name, len(h.Value))
			continue
		}
		if i := p.Find("target"); lower == "origin" && i >= 0 && p.params[i].value == h.Value {
			h.Value = paramMark("target")
		}
		if h.Value == "" && lower == "content-type" {
			continue
		}
		kept = append(kept, h)
	}
	s.Headers = kept
}

func HeaderValue(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f {
			return -1
		}
		return r
	}, s))
}

func IsToken(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("()<>@,;:\\\"/[]?={}", c) >= 0 {
			return false
		}
	}
	return s != ""
}

// hoist moves headers that all steps share into the client.
func (p *Plan) hoist() {
	if len(p.Steps) < 2 {
		return
	}
	for _, h := range slices.Clone(p.Steps[0].Headers) {
		if strings.EqualFold(h.Name, "Content-Type") || strings.EqualFold(h.Name, "Host") || hasMark(h.Value, valueOpen) {
			continue
		}
		everywhere := true
		for _, s := range p.Steps {
			n := 0
			same := false
			for _, o := range s.Headers {
				if strings.EqualFold(o.Name, h.Name) {
					n, same = n+1, o == h
				}
			}
			everywhere = everywhere && n == 1 && same
		}
		if !everywhere {
			continue
		}
		p.common = append(p.common, h)
		for _, s := range p.Steps {
			s.Headers = slices.DeleteFunc(slices.Clone(s.Headers), func(o Pair) bool { return o == h })
		}
	}
}

func hasMark(s string, mark rune) bool { return strings.ContainsRune(s, mark) }
