package convert

import (
	"cmp"
	"fmt"
	"hyperscale/core/workflow/language"
	"path"
	"strconv"
	"strings"
	"time"

	"go.starlark.net/syntax"
)

// writer prints a plan.
type writer struct{ *Plan }

// file prints the plan.
func (p writer) file() *File {
	var b strings.Builder
	for _, line := range p.Head {
		b.WriteString(strings.TrimRight("# "+OneLine(line, 200), " ") + "\n")
	}
	b.WriteByte('\n')
	for _, q := range p.params {
		fmt.Fprintf(&b, "%s = param(%s, default = %s", q.name, Quote(q.name), Quote(q.value))
		if q.help != "" {
			fmt.Fprintf(&b, ", help = %s", Quote(OneLine(q.help, 120)))
		}
		if q.real != "" {
			b.WriteString(", secret = True")
		}
		b.WriteString(")\n")
	}
	if len(p.params) > 0 {
		b.WriteByte('\n')
	}
	n := call("workflow", p.workflow()...)
	n.broken = true
	n.print(&b, 0, 0)
	b.WriteByte('\n')
	return &File{Text: b.String(), Steps: len(p.Steps), Secrets: p.secrets, Notes: p.notes}
}

func (p writer) workflow() []item {
	name := Snake(strings.TrimSuffix(path.Base(strings.ReplaceAll(p.Options.File, "\\", "/")), ".star"), 40)
	if name == "" {
		name = "converted"
	}
	items := []item{named("name", Quote(name)), named("vus", "10"), named("duration", Quote("30s"))}
	if p.timeout != "" {
		items = append(items, named("timeout", Quote(p.timeout)))
	}
	if len(p.Steps) > 1 || p.Mix {
		items = append(items, named("think", Quote("1s")))
	}
	if c := p.client(); len(c) > 0 {
		items = append(items, item{key: "http = ", value: call("http.client", c...)})
	}
	steps := list(p.list()...)
	steps.broken = true
	items = append(items, item{key: "steps = ", value: steps})
	wants := list(item{value: atom(Quote("errors < 1%"))}, item{value: atom(Quote("latency.p95 < " + p.bound()))})
	last := item{key: "thresholds = ", value: wants, notes: []string{"Suggestions: the exit code is 99 when one of them is not met."}}
	return append(items, last)
}

// bound is twice the slowest answer that was seen, or half a second.
func (p writer) bound() string {
	for _, d := range []int{500, 1000, 2000, 5000, 10000, 20000, 30000} {
		if p.Slowest*2 <= time.Duration(d)*time.Millisecond {
			return (time.Duration(d) * time.Millisecond).String()
		}
	}
	return "1m"
}

func (p writer) client() []item {
	var items []item
	add := func(name, value string) { items = append(items, named(name, value)) }
	if p.Version != "" {
		add("version", Quote(p.Version))
	}
	if len(p.common) > 0 {
		items = append(items, item{key: "headers = ", value: p.dict(p.common)})
	}
	if p.Compress {
		add("compression", "True")
	}
	if p.Proxy != "" {
		add("proxy", p.text(p.Proxy))
	}
	if len(p.Hosts) > 0 {
		items = append(items, item{key: "dns = ", value: call("dns", item{key: "hosts = ", value: p.dict(p.Hosts)})})
	}
	var secure []item
	if p.Insecure {
		secure = append(secure, named("verify", "False"))
	}
	if p.Certificate != "" { // one file may hold both, as curl has it
		secure = append(secure, named("certificate", "file("+Quote(p.Certificate)+")"), named("key", "file("+Quote(cmp.Or(p.Key, p.Certificate))+")"))
	}
	if p.Authorities != "" {
		secure = append(secure, named("ca", "file("+Quote(p.Authorities)+")"))
	}
	if len(secure) > 0 {
		items = append(items, item{key: "tls = ", value: call("tls", secure...)})
	}
	return items
}

// list is the steps, with pauses between them.
func (p writer) list() []item {
	var items []item
	for i, s := range p.Steps {
		if s.Pause > 0 && i > 0 && !p.Mix {
			name := "pause_before_" + language.Clip(s.Name, 45)
			name = strings.TrimRight(strings.ReplaceAll(name, ".", ""), "_")
			pause := call("action", item{value: atom(Quote(name))}, item{value: atom("lambda vu: vu.sleep(" + Quote(s.Pause.String()) + ")")})
			items = append(items, item{value: pause})
		}
		items = append(items, item{value: p.step(s), notes: s.Comments})
	}
	return items
}

func (p writer) step(s *Step) node {
	n := call("step", item{value: atom(Quote(s.Name))}, item{value: p.request(s)})
	if p.Mix && len(p.Steps) > 1 {
		n.items = append(n.items, named("weight", "1"))
	}
	if len(s.Extract) > 0 {
		var values []item
		for _, e := range s.Extract {
			values = append(values, item{key: Quote(e.Name) + ": ", value: atom(e.Value)})
		}
		n.items = append(n.items, item{key: "extract = ", value: dict(values...)})
	}
	if s.Status > 0 {
		n.items = append(n.items, item{key: "expect = ", value: list(item{value: atom(fmt.Sprintf("status(%d)", s.Status))})})
	}
	return n
}

func (p writer) request(s *Step) node {
	var n node
	switch s.Method {
	case "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS":
		n = call("http." + strings.ToLower(s.Method))
	default:
		n = call("http.request", item{value: atom(Quote(s.Method))})
	}
	n.items = append(n.items, item{value: atom(p.address(s.Url))})
	add := func(name string, value node) { n.items = append(n.items, item{key: name + " = ", value: value}) }
	if len(s.Params) > 0 {
		add("params", p.dict(s.Params))
	}
	headers := s.Headers
	if s.Body.Kind == BodyJSON && numbered(s.Body.Json) && !Has(headers, "Content-Type") {
		headers = append(headers[:len(headers):len(headers)], Pair{"Content-Type", "application/json"})
	}
	if p.rawCookies(s.Cookies) {
		headers = append(headers[:len(headers):len(headers)], Pair{"Cookie", cookieHeader(s.Cookies)})
	}
	if len(headers) > 0 {
		add("headers", p.dict(headers))
	}
	if len(s.Cookies) > 0 && !p.rawCookies(s.Cookies) {
		add("cookies", p.dict(s.Cookies))
	}
	switch a := s.Auth; {
	case a == nil:
	case a.Bearer:
		add("auth", atom("http.bearer("+p.text(a.Password)+")"))
	case a.Digest:
		add("auth", atom("http.digest("+p.text(a.User)+", "+p.text(a.Password)+")"))
	default:
		add("auth", atom("http.basic("+p.text(a.User)+", "+p.text(a.Password)+")"))
	}
	if name, value := p.body(&s.Body); name != "" {
		add(name, value)
	}
	if s.Timeout != "" {
		add("timeout", atom(Quote(s.Timeout)))
	}
	if s.Redirects > 0 {
		add("redirects", atom(fmt.Sprint(s.Redirects)))
	}
	return n
}

func (p writer) body(b *Body) (string, node) {
	switch b.Kind {
	case BodyText:
		if b.Bytes {
			return "body", atom(syntax.Quote(b.Text, true))
		}
		return "body", atom(p.text(b.Text))
	case BodyFile:
		return "body", atom("file(" + Quote(b.Text) + ")")
	case BodyJSON:
		if numbered(b.Json) {
			return "body", atom(p.encoded(b.Json))
		}
		return "json", p.json(b.Json)
	case BodyForm:
		return "form", p.dict(b.Form)
	case BodyMultipart:
		return "multipart", p.parts(b.Parts)
	}
	return "", node{}
}

func (p writer) part(q Part) node {
	value := p.text(q.Value)
	if q.File != "" {
		value = "file(" + Quote(q.File) + ")"
	}
	if q.Filename == "" && q.Kind == "" {
		return atom(value)
	}
	n := call("http.part", item{value: atom(value)})
	n.items = append(n.items, named("filename", Quote(q.Filename)))
	if q.Kind != "" {
		n.items = append(n.items, named("type", Quote(q.Kind)))
	}
	return n
}

// dict prints pairs; a name that comes again gets a list.
func (p writer) dict(all []Pair) node {
	names, values := make([]string, len(all)), make([]node, len(all))
	for i, q := range all {
		names[i], values[i] = q.Name, atom(p.text(q.Value))
	}
	return p.named(names, values)
}

func (p writer) parts(all []Part) node {
	names, values := make([]string, len(all)), make([]node, len(all))
	for i, q := range all {
		names[i], values[i] = q.Name, p.part(q)
	}
	return p.named(names, values)
}

// named is a dict of values, in lists where their names come again.
func (p writer) named(names []string, values []node) node {
	var items []item
	at := map[string]int{}
	for n, name := range names {
		i, again := at[name]
		switch {
		case !again:
			at[name] = len(items)
			items = append(items, item{key: p.text(name) + ": ", value: values[n]})
		case items[i].value.open != "[":
			items[i].value = list(item{value: items[i].value}, item{value: values[n]})
		default:
			items[i].value.items = append(items[i].value.items, item{value: values[n]})
		}
	}
	return dict(items...)
}

// text prints a text: its literals, joined with the params in it by +.
func (p writer) text(s string) string {
	var out []string
	literal := ""
	for _, piece := range Pieces(s) {
		switch piece.Mark {
		case ParamOpen:
			if literal != "" {
				out = append(out, Quote(literal))
				literal = ""
			}
			out = append(out, piece.Text)
		case valueOpen:
			literal += "${" + piece.Text + "}"
		default:
			literal += strings.ReplaceAll(piece.Text, "${", "$${")
		}
	}
	if literal != "" || len(out) == 0 {
		out = append(out, Quote(literal))
	}
	return strings.Join(out, " + ")
}

// address prints a URL, in which a param is escaped that would not be a part of it as it is.
func (p writer) address(s string) string {
	all := Pieces(s)
	var b strings.Builder
	for i, piece := range all {
		if i > 0 && piece.Mark == ParamOpen && p.escapes(piece.Text) {
			b.WriteString(string(ParamOpen) + "url.encode(" + piece.Text + ")" + string(MarkClose))
		} else if piece.Mark != 0 {
			b.WriteString(string(piece.Mark) + piece.Text + string(MarkClose))
		} else {
			b.WriteString(piece.Text)
		}
	}
	return p.text(b.String())
}

// Quote writes a literal as a person would: in single quotes if it contains double ones, and
// multi-line text as lines.
func Quote(s string) string {
	plain := !strings.ContainsFunc(s, func(r rune) bool { return r == '\\' || r != '\n' && !strconv.IsPrint(r) })
	lines := strings.Count(s, "\n")
	switch {
	case plain && lines == 0 && strings.Contains(s, `"`) && !strings.Contains(s, "'"):
		return "'" + s + "'"
	case plain && lines > 1 && !strings.Contains(s, `"""`) && !strings.HasSuffix(s, `"`):
		return `"""` + s + `"""`
	}
	return syntax.Quote(s, false)
}

func named(name, value string) item { return item{key: name + " = ", value: atom(value)} }
