package convert

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// ErrNothing is returned for a source in which no request is left.
var ErrNothing = errors.New("no request is in it")

// finish makes the file of a plan whose steps are shaped.
func (p *plan) finish() (*File, error) {
	if len(p.steps) == 0 {
		why := ""
		if len(p.notes) > 0 {
			why = ": " + strings.Join(p.notes[:min(len(p.notes), 5)], "; ")
		}
		return nil, fmt.Errorf("%w that could be kept%s", ErrNothing, why)
	}
	if len(p.steps) > stepsMax {
		p.note("the first %d of %d requests are in the file: more are no test that a person reads", stepsMax, len(p.steps))
		p.steps = p.steps[:stepsMax]
	}
	p.tellAdded()
	p.nameSteps()
	for _, s := range p.steps {
		p.conceal(s)
	}
	for _, s := range p.steps {
		p.concealAgain(s)
		joinQuery(s)
	}
	p.hoist()
	for {
		p.prune()
		if file := p.file(); len(file.Text) <= textMax || len(p.steps) == 1 {
			p.tellSecrets()
			file.Notes = p.notes
			return file, nil
		}
		p.steps = p.steps[:len(p.steps)/2]
		p.note("the first %d requests are in the file: with more of them it would be larger than a workflow file may be", len(p.steps))
	}
}

// prune drops params that no step uses any longer.
func (p *plan) prune() {
	text := strings.Builder{}
	for _, n := range p.list() {
		n.value.print(&text, 0, 0)
	}
	used := text.String()
	for _, c := range p.client() {
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
			if (i == 0 || !inName(rest[i-1])) && (i+len(name) == len(rest) || !inName(rest[i+len(name)])) {
				return true
			}
			rest = rest[i+len(name):]
		}
	}
	p.params = slices.DeleteFunc(p.params, func(q param) bool { return !isUsed(q.name) })
	p.secrets = slices.DeleteFunc(p.secrets, func(name string) bool { return p.find(name) < 0 })
	slices.SortStableFunc(p.params, func(a, b param) int { return rank(a) - rank(b) })
}

// tellAdded says which headers a browser has added that a server may look at.
func (p *plan) tellAdded() {
	slices.Sort(p.added)
	if p.added = slices.Compact(p.added); len(p.added) > 0 {
		p.note("what browsers add by themselves is not kept: %s; write headers = {...} where the server wants one", strings.Join(p.added, ", "))
	}
}

func rank(q param) int {
	if strings.HasPrefix(q.name, "target") {
		return 0
	}
	return 1
}

func inName(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// add shapes a step and keeps it, or says why not.
func (p *plan) add(s *step) bool {
	s.method = strings.TrimSpace(clean(s.method))
	if s.method == "" {
		s.method = "GET"
	}
	if upper := strings.ToUpper(s.method); http.MethodGet == upper || strings.Contains(" POST PUT PATCH DELETE HEAD OPTIONS ", " "+upper+" ") {
		s.method = upper
	}
	if why := p.shape(s); why != "" {
		p.note("left out %s %s: %s", clip(s.method, 20), shown(s.url), why)
		return false
	}
	p.shapeHeaders(s)
	p.shapeBody(s)
	p.steps = append(p.steps, s)
	return true
}

// shape takes a step's URL apart; it returns why that cannot be kept.
func (p *plan) shape(s *step) string {
	if !isToken(s.method) || len(s.method) > 32 {
		return "its method is none"
	}
	address, _, _ := strings.Cut(markedURL(strings.TrimSpace(s.url)), "#")
	if len(address) > 8000 {
		return "its URL is longer than 8000 characters"
	}
	address = p.rooted(address)
	base, query, asks := strings.Cut(address, "?")
	if asks {
		if all, ok := splitQuery(query); ok {
			s.params, asks = append(all, s.params...), false
		}
	}
	if s.url = base; asks && query != "" {
		s.url += "?" + query
	}
	for i := range s.params {
		if marked(s.params[i].name) {
			s.params[i].name = p.resolved(s.params[i].name)
		}
	}
	s.params = slices.DeleteFunc(s.params, func(q pair) bool {
		if q.name == "" && q.value != "" {
			p.warn(s, "a parameter of its query without a name is not kept: %s", clip(q.value, 40))
		}
		return q.name == ""
	})
	full := p.resolvedURL(s.url)
	if _, err := url.Parse(full); err != nil {
		return "its URL is not one"
	}
	if _, _, ok := origin(full); !ok {
		return "its URL has no host that can be looked up"
	}
	return ""
}

// rooted puts a param in the place of scheme and host.
func (p *plan) rooted(address string) string {
	if host, rest, ok := origin(address); ok {
		name := "target"
		if i := p.find(name); i >= 0 && p.params[i].value != host {
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
		return p.param(name, host, help) + rest
	}
	all := pieces(address)
	if len(all) == 0 || all[0].mark != paramOpen {
		return address
	}
	i := p.find(all[0].text)
	if i < 0 {
		return address
	}
	q := &p.params[i]
	if _, _, ok := origin(q.value); ok {
		q.value = strings.TrimRight(q.value, "/")
	} else if !strings.Contains(q.value, "://") && q.value != "" && q.value != placeholder && plainHost(q.value) {
		return "http://" + address
	} else {
		p.note("where the requests go is not known: set it with --set %s=http://host", q.name)
		q.value, q.real, q.help = anywhere, "", "server under test"
		p.secrets = slices.DeleteFunc(p.secrets, func(s string) bool { return s == q.name })
	}
	_, path, _ := origin(q.value)
	if rest := strings.TrimPrefix(address, paramMark(q.name)); path == "" && (rest == "" || rest[0] == '?') {
		return paramMark(q.name) + "/" + rest
	}
	return address
}

// resolvedURL is what the writer's text of a URL comes to.
func (p *plan) resolvedURL(s string) string {
	var b strings.Builder
	for i, piece := range pieces(s) {
		switch {
		case piece.mark == 0:
			b.WriteString(piece.text)
		case piece.mark == valueOpen:
			b.WriteString("value")
		default:
			if at := p.find(piece.text); at >= 0 && i > 0 && p.escapes(piece.text) {
				b.WriteString(url.QueryEscape(p.params[at].value))
			} else if at >= 0 {
				b.WriteString(p.params[at].value)
			}
		}
	}
	return b.String()
}

// escapes says whether a param's value needs escaping in a URL.
func (p *plan) escapes(name string) bool {
	i := p.find(name)
	if i < 0 {
		return false
	}
	v := p.params[i].value
	return urlText(v) != v || strings.ContainsAny(v, "?#%")
}

func splitQuery(query string) ([]pair, bool) {
	var all []pair
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
		all = append(all, pair{clean2(name), clean2(value)})
	}
	return all, true
}

// clean2 makes what an escape said valid, and leaves marks.
func clean2(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// joinQuery writes a single short parameter where a person would: in the URL.
func joinQuery(s *step) {
	if len(s.params) != 1 || strings.Contains(s.url, "?") {
		return
	}
	q := s.params[0]
	if marked(q.name+q.value) || len(q.name)+len(q.value) > 40 {
		return
	}
	s.url += "?" + url.QueryEscape(q.name) + "=" + url.QueryEscape(q.value)
	s.params = nil
}

// noise are headers that say something of the connection, or of a browser.
const noise = " host authority connection content-length transfer-encoding keep-alive proxy-connection te trailer upgrade expect "

// browserNoise is what only a browser's cache and settings say.
const browserNoise = " upgrade-insecure-requests dnt priority save-data purpose x-client-data if-none-match if-modified-since "

func (p *plan) shapeHeaders(s *step) {
	var kept []pair
	for _, h := range s.headers {
		h.name, h.value = strings.TrimSpace(bare(h.name)), headerValue(h.value)
		lower := strings.ToLower(h.name)
		if h.name == lower {
			h.name = http.CanonicalHeaderKey(lower)
		}
		switch {
		case lower == "" || lower[0] == ':':
			continue
		case strings.HasPrefix(lower, "sec-fetch-"), strings.HasPrefix(lower, "sec-ch-"), strings.HasPrefix(lower, "sec-websocket-"), lower == "sec-gpc", lower == "sec-purpose":
			continue
		case lower == "accept-encoding":
			if p.compress = p.compress || strings.Contains(h.value, "gzip"); !p.browser && !strings.Contains(h.value, "gzip") {
				kept = append(kept, h)
			}
			continue
		case lower == "host":
			if !p.browser && !marked(h.value) && !strings.Contains(p.resolved(s.url), "://"+h.value) && plainHost(h.value) && h.value != "" {
				kept = append(kept, h)
			}
			continue
		case lower == "cookie":
			p.cookies(s, h.value)
			continue
		case strings.Contains(noise, " "+lower+" "), lower == "accept" && h.value == "*/*", p.browser && strings.Contains(browserNoise, " "+lower+" "):
			continue
		case p.browser && strings.Contains(" user-agent referer pragma cache-control accept-language ", " "+lower+" "),
			p.browser && lower == "origin" && (s.method == "GET" || s.method == "HEAD"):
			p.added = append(p.added, http.CanonicalHeaderKey(lower))
			continue
		case !isToken(h.name):
			p.warn(s, "the header %q is none and is not kept", clip(h.name, 40))
			continue
		case len(h.value) > 8000:
			p.warn(s, "the header %s has %d characters and is not kept", h.name, len(h.value))
			continue
		}
		if i := p.find("target"); lower == "origin" && i >= 0 && p.params[i].value == h.value {
			h.value = paramMark("target")
		}
		if h.value == "" && lower == "content-type" {
			continue
		}
		kept = append(kept, h)
	}
	s.headers = kept
}

func headerValue(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f {
			return -1
		}
		return r
	}, s))
}

func isToken(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("()<>@,;:\\\"/[]?={}", c) >= 0 {
			return false
		}
	}
	return s != ""
}

// hoist moves headers that all steps share into the client.
func (p *plan) hoist() {
	if len(p.steps) < 2 {
		return
	}
	for _, h := range slices.Clone(p.steps[0].headers) {
		if strings.EqualFold(h.name, "Content-Type") || strings.EqualFold(h.name, "Host") || hasMark(h.value, valueOpen) {
			continue
		}
		everywhere := true
		for _, s := range p.steps {
			n := 0
			same := false
			for _, o := range s.headers {
				if strings.EqualFold(o.name, h.name) {
					n, same = n+1, o == h
				}
			}
			everywhere = everywhere && n == 1 && same
		}
		if !everywhere {
			continue
		}
		p.common = append(p.common, h)
		for _, s := range p.steps {
			s.headers = slices.DeleteFunc(slices.Clone(s.headers), func(o pair) bool { return o == h })
		}
	}
}

func hasMark(s string, mark rune) bool { return strings.ContainsRune(s, mark) }
