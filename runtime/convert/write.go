package convert

import (
	"cmp"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"go.starlark.net/syntax"
)

// file prints the plan.
func (p *plan) file() *File {
	var b strings.Builder
	for _, line := range p.head {
		b.WriteString(strings.TrimRight("# "+oneLine(line, 200), " ") + "\n")
	}
	b.WriteByte('\n')
	for _, q := range p.params {
		fmt.Fprintf(&b, "%s = param(%s, default = %s", q.name, quote(q.name), quote(q.value))
		if q.help != "" {
			fmt.Fprintf(&b, ", help = %s", quote(oneLine(q.help, 120)))
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
	return &File{Text: b.String(), Steps: len(p.steps), Secrets: p.secrets, Notes: p.notes}
}

func (p *plan) workflow() []item {
	name := snake(strings.TrimSuffix(path.Base(strings.ReplaceAll(p.options.File, "\\", "/")), ".star"), 40)
	if name == "" {
		name = "converted"
	}
	items := []item{named("name", quote(name)), named("vus", "10"), named("duration", quote("30s"))}
	if p.timeout != "" {
		items = append(items, named("timeout", quote(p.timeout)))
	}
	if len(p.steps) > 1 || p.mix {
		items = append(items, named("think", quote("1s")))
	}
	if c := p.client(); len(c) > 0 {
		items = append(items, item{key: "http = ", value: call("http.client", c...)})
	}
	steps := list(p.list()...)
	steps.broken = true
	items = append(items, item{key: "steps = ", value: steps})
	wants := list(item{value: atom(quote("errors < 1%"))}, item{value: atom(quote("latency.p95 < " + p.bound()))})
	last := item{key: "thresholds = ", value: wants, notes: []string{"Suggestions: the exit code is 99 when one of them is not met."}}
	return append(items, last)
}

// bound is twice the slowest answer that was seen, or half a second.
func (p *plan) bound() string {
	for _, d := range []int{500, 1000, 2000, 5000, 10000, 20000, 30000} {
		if p.slowest*2 <= time.Duration(d)*time.Millisecond {
			return (time.Duration(d) * time.Millisecond).String()
		}
	}
	return "1m"
}

func (p *plan) client() []item {
	var items []item
	add := func(name, value string) { items = append(items, named(name, value)) }
	if p.version != "" {
		add("version", quote(p.version))
	}
	if len(p.common) > 0 {
		items = append(items, item{key: "headers = ", value: p.dict(p.common)})
	}
	if p.compress {
		add("compression", "True")
	}
	if p.proxy != "" {
		add("proxy", p.text(p.proxy))
	}
	if len(p.hosts) > 0 {
		items = append(items, item{key: "dns = ", value: call("dns", item{key: "hosts = ", value: p.dict(p.hosts)})})
	}
	var secure []item
	if p.insecure {
		secure = append(secure, named("verify", "False"))
	}
	if p.certificate != "" { // one file may hold both, as curl has it
		secure = append(secure, named("certificate", "file("+quote(p.certificate)+")"), named("key", "file("+quote(cmp.Or(p.key, p.certificate))+")"))
	}
	if p.authorities != "" {
		secure = append(secure, named("ca", "file("+quote(p.authorities)+")"))
	}
	if len(secure) > 0 {
		items = append(items, item{key: "tls = ", value: call("tls", secure...)})
	}
	return items
}

// list is the steps, with pauses between them.
func (p *plan) list() []item {
	var items []item
	before := ""
	for _, s := range p.steps {
		if s.pause > 0 && before != "" {
			name := "pause_before_" + clip(s.name, 45)
			name = strings.TrimRight(strings.ReplaceAll(name, ".", ""), "_")
			pause := call("action", item{value: atom(quote(name))}, item{value: atom("lambda vu: vu.sleep(" + quote(s.pause.String()) + ")")})
			pause.items = append(pause.items, item{key: "after = ", value: list(item{value: atom(quote(before))})})
			items = append(items, item{value: pause})
			before = name
		}
		items = append(items, item{value: p.step(s, before), notes: s.comments})
		if !p.mix {
			before = s.name
		}
	}
	return items
}

func (p *plan) step(s *step, before string) node {
	n := call("step", item{value: atom(quote(s.name))}, item{value: p.request(s)})
	if before != "" {
		n.items = append(n.items, item{key: "after = ", value: list(item{value: atom(quote(before))})})
	}
	if p.mix && len(p.steps) > 1 {
		n.items = append(n.items, named("weight", "1"))
	}
	if len(s.extract) > 0 {
		var values []item
		for _, e := range s.extract {
			values = append(values, item{key: quote(e.name) + ": ", value: atom(e.value)})
		}
		n.items = append(n.items, item{key: "extract = ", value: dict(values...)})
	}
	if s.status > 0 {
		n.items = append(n.items, item{key: "expect = ", value: list(item{value: atom(fmt.Sprintf("status(%d)", s.status))})})
	}
	return n
}

func (p *plan) request(s *step) node {
	var n node
	switch s.method {
	case "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS":
		n = call("http." + strings.ToLower(s.method))
	default:
		n = call("http.request", item{value: atom(quote(s.method))})
	}
	n.items = append(n.items, item{value: atom(p.address(s.url))})
	add := func(name string, value node) { n.items = append(n.items, item{key: name + " = ", value: value}) }
	if len(s.params) > 0 {
		add("params", p.dict(s.params))
	}
	headers := s.headers
	if s.body.kind == bodyJSON && numbered(s.body.json) && !has(headers, "Content-Type") {
		headers = append(headers[:len(headers):len(headers)], pair{"Content-Type", "application/json"})
	}
	if p.rawCookies(s.cookies) {
		headers = append(headers[:len(headers):len(headers)], pair{"Cookie", cookieHeader(s.cookies)})
	}
	if len(headers) > 0 {
		add("headers", p.dict(headers))
	}
	if len(s.cookies) > 0 && !p.rawCookies(s.cookies) {
		add("cookies", p.dict(s.cookies))
	}
	switch a := s.auth; {
	case a == nil:
	case a.bearer:
		add("auth", atom("http.bearer("+p.text(a.password)+")"))
	default:
		add("auth", atom("http.basic("+p.text(a.user)+", "+p.text(a.password)+")"))
	}
	if name, value := p.body(&s.body); name != "" {
		add(name, value)
	}
	if s.timeout != "" {
		add("timeout", atom(quote(s.timeout)))
	}
	if s.redirects > 0 {
		add("redirects", atom(fmt.Sprint(s.redirects)))
	}
	return n
}

func (p *plan) body(b *body) (string, node) {
	switch b.kind {
	case bodyText:
		if b.bytes {
			return "body", atom(syntax.Quote(b.text, true))
		}
		return "body", atom(p.text(b.text))
	case bodyFile:
		return "body", atom("file(" + quote(b.text) + ")")
	case bodyJSON:
		if numbered(b.json) {
			return "body", atom(p.encoded(b.json))
		}
		return "json", p.json(b.json)
	case bodyForm:
		return "form", p.dict(b.form)
	case bodyMultipart:
		return "multipart", p.parts(b.parts)
	}
	return "", node{}
}

func (p *plan) part(q part) node {
	value := p.text(q.value)
	if q.file != "" {
		value = "file(" + quote(q.file) + ")"
	}
	if q.filename == "" && q.kind == "" {
		return atom(value)
	}
	n := call("http.part", item{value: atom(value)})
	n.items = append(n.items, named("filename", quote(q.filename)))
	if q.kind != "" {
		n.items = append(n.items, named("type", quote(q.kind)))
	}
	return n
}

// dict prints pairs; a name that comes again gets a list.
func (p *plan) dict(all []pair) node {
	names, values := make([]string, len(all)), make([]node, len(all))
	for i, q := range all {
		names[i], values[i] = q.name, atom(p.text(q.value))
	}
	return p.named(names, values)
}

func (p *plan) parts(all []part) node {
	names, values := make([]string, len(all)), make([]node, len(all))
	for i, q := range all {
		names[i], values[i] = q.name, p.part(q)
	}
	return p.named(names, values)
}

// named is a dict of values, in lists where their names come again.
func (p *plan) named(names []string, values []node) node {
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
func (p *plan) text(s string) string {
	var out []string
	literal := ""
	for _, piece := range pieces(s) {
		switch piece.mark {
		case paramOpen:
			if literal != "" {
				out = append(out, quote(literal))
				literal = ""
			}
			out = append(out, piece.text)
		case valueOpen:
			literal += "${" + piece.text + "}"
		default:
			literal += strings.ReplaceAll(piece.text, "${", "$${")
		}
	}
	if literal != "" || len(out) == 0 {
		out = append(out, quote(literal))
	}
	return strings.Join(out, " + ")
}

// address prints a URL, in which a param is escaped that would not be a part of it as it is.
func (p *plan) address(s string) string {
	all := pieces(s)
	var b strings.Builder
	for i, piece := range all {
		if i > 0 && piece.mark == paramOpen && p.escapes(piece.text) {
			b.WriteString(string(paramOpen) + "url.encode(" + piece.text + ")" + string(markClose))
		} else if piece.mark != 0 {
			b.WriteString(string(piece.mark) + piece.text + string(markClose))
		} else {
			b.WriteString(piece.text)
		}
	}
	return p.text(b.String())
}

// quote writes a literal as a person would: in single quotes what has double ones in it,
// and lines as lines.
func quote(s string) string {
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
