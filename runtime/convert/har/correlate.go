package har

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hyperscale/core/workflow/language"
	"hyperscale/runtime/convert"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// correlator finds values of answers that occur again in later requests. It extracts such a
// value where it came from, and fills it in where it goes. The value must be long enough to be
// no accident, new in that answer, and unique in it.
type correlator struct {
	p     recorder
	known map[string]bool    // values that requests had before
	found map[string]*source // values of answers
	jar   map[string]bool    // cookies that a kept answer has set
	names map[string]bool    // of extractions
}

// source is where a value stands.
type source struct {
	step      *convert.Step
	extractor string
	wish      string // its name
	depth     int
	places    int // as deep as this one, in the same answer
	name      string
}

const readMax = 1 << 20 // of one answer

func newCorrelator(p recorder) *correlator {
	return &correlator{p: p, known: map[string]bool{}, found: map[string]*source{}, jar: map[string]bool{}, names: map[string]bool{}}
}

// telling says whether a value is likely to be one thing only.
func telling(v string) bool {
	if len(v) < 4 || len(v) > 4000 || v == convert.Placeholder {
		return false
	}
	digits, others := 0, 0
	for i := range len(v) {
		switch c := v[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c <= ' ':
			return false
		default:
			others++
		}
	}
	if others == 0 {
		return len(v) != 4 || v[:2] != "19" && v[:2] != "20" // no year
	}
	return digits > 0 && len(v) >= 8 && !dated(v) || len(v) >= 20 && !strings.Contains(v, "://") && !strings.ContainsAny(v, "/;")
}

// random says whether a value looks drawn: then it is not the same tomorrow.
func random(v string) bool {
	digits, letters := 0, 0
	for i := range len(v) {
		switch c := v[i]; {
		case c >= '0' && c <= '9':
			digits++
		case convert.InName(c) || c == '-' || c == '.' || c == '+' || c == '/' || c == '=':
			letters++
		default:
			return false
		}
	}
	return len(v) >= 20 && digits >= 4 && letters >= 2 && !strings.Contains(v, "..") && !dated(v)
}

func dated(v string) bool {
	return len(v) >= 10 && v[4] == '-' && v[7] == '-' && (v[0] == '1' || v[0] == '2')
}

// request replaces parts of a step that earlier answers contained by their marks.
func (c *correlator) request(s *convert.Step) {
	fill := func(place, v string) string { return c.fill(s, place, v) }
	path, query, asks := strings.Cut(s.Url, "?")
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		if text, err := url.PathUnescape(segment); err == nil && i > 0 && !convert.Marked(segment) {
			if v := fill("path", text); convert.Marked(v) {
				segments[i] = v
			}
		}
	}
	if s.Url = strings.Join(segments, "/"); asks {
		s.Url += "?" + query
	}
	each := func(what string, all []convert.Pair) {
		for i := range all {
			all[i].Value = fill(what+" "+all[i].Name, all[i].Value)
		}
	}
	each("parameter", s.Params)
	each("cookie", s.Cookies)
	for i, h := range s.Headers {
		scheme, value, ok := strings.Cut(h.Value, " ")
		if ok && len(scheme) < 12 {
			if v := fill("header "+h.Name, value); v != value {
				s.Headers[i].Value = scheme + " " + v
				continue
			}
		}
		if !strings.Contains(" accept content-type origin referer user-agent x-requested-with ", " "+strings.ToLower(h.Name)+" ") {
			s.Headers[i].Value = fill("header "+h.Name, h.Value)
		}
	}
	switch s.Body.Kind {
	case convert.BodyForm:
		each("field", s.Body.Form)
	case convert.BodyMultipart:
		for i, q := range s.Body.Parts {
			s.Body.Parts[i].Value = fill("part "+q.Name, q.Value)
		}
	case convert.BodyJSON:
		s.Body.Json = c.fillJSON(s, "body", s.Body.Json)
	}
}

func (c *correlator) fillJSON(s *convert.Step, place string, v any) any {
	switch v := v.(type) {
	case string:
		return c.fill(s, place, v)
	case json.Number:
		return json.Number(c.fill(s, place, v.String()))
	case []any:
		for i := range v {
			v[i] = c.fillJSON(s, place, v[i])
		}
	case *convert.Object:
		for i, k := range v.Keys {
			v.Values[i] = c.fillJSON(s, place+" "+k, v.Values[i])
		}
	}
	return v
}

// fill is the value, or the mark of its extraction.
func (c *correlator) fill(s *convert.Step, place, v string) string {
	if convert.Marked(v) || !telling(v) {
		return v
	}
	f := c.found[v]
	switch {
	case c.known[v]:
	case f == nil:
		if c.known[v] = true; random(v) && !convert.IsSecret(place, v) && place != "path" && !strings.HasPrefix(place, "cookie") {
			c.p.Warn(s, "%s looks as if it were made for one session, and no answer before has it: it is kept as recorded", language.Clip(place, 60))
		}
	case f.places > 1:
		c.known[v] = true
		c.p.Warn(s, "%s came in %d places of an earlier answer, %s: which one is meant cannot be told, it is kept as recorded", language.Clip(place, 60), f.places, convert.NameOf(f.step))
	default:
		return convert.ValueMark(c.extract(f))
	}
	return v
}

// extract adds the extraction where the value comes from.
func (c *correlator) extract(f *source) string {
	if f.name != "" {
		return f.name
	}
	base := convert.Identifier(f.wish)
	if base == "id" || base == "value" || base == "key" || base == "uuid" {
		base = convert.Identifier(convert.Singular(lastWord(f.step)) + "_" + base)
	}
	f.name = base
	for n := 2; c.names[f.name]; n++ {
		f.name = fmt.Sprintf("%s_%d", base, n)
	}
	c.names[f.name] = true
	f.step.Extract = append(f.step.Extract, convert.Pair{Name: f.name, Value: f.extractor})
	return f.name
}

func lastWord(s *convert.Step) string {
	name := convert.NameOf(s)
	return name[strings.LastIndexByte(name, '_')+1:]
}

// add notes that a value stands somewhere.
func (c *correlator) add(v string, f source) {
	if v = convert.Clean(v); !telling(v) || c.known[v] || len(c.found) >= convert.ValuesMax {
		return
	}
	f.places = 1
	old := c.found[v]
	switch {
	case old == nil || old.step != f.step && old.places > 1 || old.step == f.step && f.depth < old.depth:
		c.found[v] = &f
	case old.step == f.step && f.depth == old.depth:
		old.places++
	}
}

// response collects the values of a step's answer.
func (c *correlator) response(s *convert.Step, e *entry) {
	for _, h := range e.Response.Headers {
		lower := strings.ToLower(h.Name)
		if lower == "set-cookie" {
			for _, line := range strings.Split(h.Value, "\n") {
				c.setCookie(s, line)
			}
			continue
		}
		if convert.IsToken(h.Name) && strings.HasPrefix(lower, "x-") || strings.Contains(lower, "token") || lower == "authorization" {
			value := h.Value
			c.add(value, source{step: s, extractor: "header(" + convert.Quote(convert.Clean(h.Name)) + ")", wish: strings.TrimPrefix(lower, "x-")})
		}
	}
	text := e.Response.Content.Text
	if e.Response.Content.Encoding == "base64" {
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return
		}
		text = string(raw)
	}
	if len(text) > readMax || text == "" {
		return
	}
	if t := strings.TrimSpace(text); strings.HasPrefix(t, "{") || strings.HasPrefix(t, "[") {
		if v, err := convert.ParseJSON([]byte(t), true); err == nil {
			c.json(s, "$", "", 0, v)
		}
		return
	}
	c.html(s, text)
}

func (c *correlator) setCookie(s *convert.Step, line string) {
	first, _, _ := strings.Cut(line, ";")
	name, value, ok := strings.Cut(strings.TrimSpace(first), "=")
	if name = strings.TrimSpace(name); !ok || !convert.IsToken(name) {
		return
	}
	c.jar[name] = true
	c.add(strings.TrimSpace(value), source{step: s, extractor: "cookie(" + convert.Quote(name) + ")", wish: name})
}

func (c *correlator) json(s *convert.Step, at, key string, depth int, v any) {
	switch v := v.(type) {
	case string:
		c.add(v, source{step: s, extractor: "json_path(" + convert.Quote(at) + ")", wish: key, depth: depth})
	case json.Number:
		c.add(v.String(), source{step: s, extractor: "json_path(" + convert.Quote(at) + ")", wish: key, depth: depth})
	case []any:
		for i, e := range v {
			c.json(s, fmt.Sprintf("%s[%d]", at, i), key, depth+1, e)
		}
	case *convert.Object:
		for i, k := range v.Keys {
			step := "." + k
			if !plainKey(k) {
				if strings.ContainsAny(k, "\"\\]") || convert.Clean(k) != k || convert.OneLine(k, 1000) != k {
					continue
				}
				step = "[\"" + k + "\"]"
			}
			if wish := k; len(at)+len(step) < 900 {
				if (k == "id" || k == "uuid") && key != "" {
					wish = convert.Singular(key) + "_" + k
				}
				c.json(s, at+step, wish, depth+1, v.Values[i])
			}
		}
	}
}

func plainKey(k string) bool {
	for i := range len(k) {
		if !convert.InName(k[i]) {
			return false
		}
	}
	return k != "" && (k[0] < '0' || k[0] > '9')
}

// tagsOf returns what matches a tag of a name. It is compiled when a recording is read: a bounded
// repetition takes a millisecond, which each executor would spend at its start.
func tagsOf(name string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)<` + name + `\b[^>]{0,1000}>`) })
}

var (
	inputTags = tagsOf("input")
	metaTags  = tagsOf("meta")
	nameAttr  = regexp.MustCompile(`(?i)\bname\s*=\s*["']?([^"'\s>]+)`)
	textAttr  = regexp.MustCompile(`(?i)\b(?:value|content)\s*=\s*["']([^"']*)["']`)
)

// html reads the hidden fields of forms, and csrf tokens of pages.
func (c *correlator) html(s *convert.Step, text string) {
	seen := map[string]bool{}
	for _, tag := range inputTags().FindAllString(text, 500) {
		name, value := nameAttr.FindStringSubmatch(tag), textAttr.FindStringSubmatch(tag)
		if name == nil || value == nil || seen[name[1]] || convert.Clean(name[1]) != name[1] {
			continue
		}
		seen[name[1]] = true
		c.add(value[1], source{step: s, extractor: "form_value(" + convert.Quote(name[1]) + ")", wish: name[1]})
	}
	for _, tag := range metaTags().FindAllString(text, 500) {
		name, value := nameAttr.FindStringSubmatch(tag), textAttr.FindStringSubmatch(tag)
		if name == nil || value == nil || !slices.ContainsFunc(convert.Words(name[1]), func(w string) bool { return w == "csrf" || w == "token" || w == "xsrf" }) {
			continue
		}
		if before, _, ok := strings.Cut(tag, value[1]); ok && value[1] != "" && convert.Clean(before) == before && len(before) < 300 {
			pattern := regexp.QuoteMeta(before) + `([^"']+)`
			c.add(value[1], source{step: s, extractor: "regex(" + convert.Quote(pattern) + ")", wish: name[1], depth: 1})
		}
	}
}

// cookies keeps those of a request that no answer before has set.
func (c *correlator) cookies(s *convert.Step, e *entry) {
	all, flags := []harPair(nil), []string(nil)
	for _, h := range e.Request.Headers {
		if !strings.EqualFold(h.Name, "Cookie") {
			continue
		}
		for _, one := range strings.Split(h.Value, ";") { // HTTP/2 has a header for each
			name, value, ok := strings.Cut(strings.TrimSpace(one), "=")
			if all = append(all, harPair{Name: name, Value: value}); !ok && name != "" {
				flags = append(flags, name)
			}
		}
	}
	if all == nil {
		all = e.Request.Cookies
	}
	for _, cookie := range all {
		if !c.jar[cookie.Name] && cookie.Name != "" {
			c.p.Cookie(s, convert.Clean(cookie.Name), convert.HeaderValue(convert.Clean(cookie.Value)), !slices.Contains(flags, cookie.Name))
		}
	}
}

// tell says what cookies came from nowhere.
func (c *correlator) tell() {
	var names []string
	for _, s := range c.p.Steps {
		for _, cookie := range s.Cookies {
			if !slices.Contains(names, cookie.Name) && len(names) < 20 {
				names = append(names, cookie.Name)
			}
		}
	}
	if len(names) > 0 {
		c.p.Note("cookies that no recorded answer sets are sent as recorded, or are params: %s; record from a fresh window to have them set", strings.Join(names, ", "))
	}
}
