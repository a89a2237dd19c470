package convert

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// collection is a Postman collection.
type collection struct {
	p       *plan
	vars    map[string]string
	secrets map[string]bool // those of type secret
	scripts int
	hidden  int
}

// FromPostman converts a collection of version 2.0 or 2.1.
func FromPostman(data []byte, o Options) (*File, error) {
	if len(data) > SourceMax {
		return nil, fmt.Errorf("a collection of %d bytes, the limit is 64 MiB: export a folder of it", len(data))
	}
	root, err := document(data)
	if err != nil {
		return nil, err
	}
	if inner := root.object("collection"); inner != nil { // as Postman's API gives it
		root = inner
	}
	if root.list("item") == nil {
		if root.list("requests") != nil {
			return nil, errors.New("a Postman collection of version 1: export it again as \"Collection v2.1\"")
		}
		if other := known(root); other != "" {
			return nil, errors.New("no Postman collection" + other)
		}
		return nil, errors.New("no Postman collection: it has no item: export one as \"Collection v2.1\"")
	}
	p := &plan{options: o}
	p.head = []string{fmt.Sprintf("Made by: hyperscale new %s --from-postman %s", path.Base(o.File), path.Base(o.From))}
	if name := root.object("info").text("name"); name != "" {
		p.head = append(p.head, "Collection: "+name)
	}
	c := &collection{p: p, vars: map[string]string{}, secrets: map[string]bool{}}
	for _, v := range root.list("variable") {
		if o, ok := v.(*object); ok && o.get("disabled") != true {
			key := o.text("key")
			if key == "" {
				key = o.text("id")
			}
			if c.vars[key] = o.text("value"); o.text("type") == "secret" {
				c.secrets[key] = true
			}
		}
	}
	c.events(root)
	c.items(root.list("item"), nil, root.object("auth"), 0)
	if c.scripts > 0 {
		p.note("%s cannot be kept (JavaScript): write extract = {...}, expect = [...] or functions where it matters", counted(c.scripts, "pre-request or test script"))
	}
	if c.hidden > 0 {
		p.note("left out %s of version 1, of another kind or nested too deep", counted(c.hidden, "item"))
	}
	return p.finish()
}

func (c *collection) events(o *object) int {
	n := 0
	for _, v := range o.list("event") {
		e, _ := v.(*object)
		script := e.object("script")
		text := script.text("exec")
		for _, line := range script.list("exec") {
			text += scalar(line)
		}
		if strings.TrimSpace(text) != "" {
			n++
		}
	}
	c.scripts += n
	return n
}

// items flattens folders; those inside inherit their authorization.
func (c *collection) items(all []any, folders []string, inherited *object, depth int) {
	for _, v := range all {
		o, ok := v.(*object)
		if !ok || depth > 20 {
			c.hidden++
			continue
		}
		auth := inherited
		if own := o.object("auth"); own != nil {
			auth = own
		}
		if inner, ok := o.get("item").([]any); ok {
			c.events(o)
			c.items(inner, append(folders[:len(folders):len(folders)], o.text("name")), auth, depth+1)
			continue
		}
		if o.get("request") == nil {
			c.hidden++
			continue
		}
		if len(c.p.steps) >= stepsMax {
			c.p.note("the first %d requests are in the file: more are no test that a person reads", stepsMax)
			return
		}
		c.request(o, auth)
	}
}

func (c *collection) request(o, inherited *object) {
	s := &step{method: "GET", name: o.text("name")}
	if strings.ContainsAny(s.name, "/{}") || strings.HasPrefix(s.name, "http") {
		s.name = "" // Postman names what nobody has named by its URL
	}
	q, ok := o.get("request").(*object)
	if !ok {
		q = &object{}
		q.put("url", o.get("request"))
	}
	if m := q.text("method"); m != "" {
		s.method = bare(c.fill(m))
	}
	s.url = c.address(q.get("url"))
	for _, v := range q.list("header") {
		if h, _ := v.(*object); h != nil && h.get("disabled") != true {
			s.headers = append(s.headers, pair{c.fill(h.text("key")), c.fill(h.text("value"))})
		}
	}
	for _, line := range strings.Split(q.text("header"), "\n") { // 2.0 has text too
		if name, value, ok := strings.Cut(line, ":"); ok {
			s.headers = append(s.headers, pair{c.fill(strings.TrimSpace(name)), c.fill(strings.TrimSpace(value))})
		}
	}
	c.body(s, q.object("body"))
	auth := inherited
	if own := q.object("auth"); own != nil {
		auth = own
	}
	c.auth(s, auth)
	if n := c.events(o); n > 0 {
		s.comments = append(s.comments, counted(n, "script")+" of this request could not be kept.")
	}
	if c.p.add(s) {
		return
	}
}

// address is the URL of a request.
func (c *collection) address(v any) string {
	u, ok := v.(*object)
	raw := scalar(v)
	if ok {
		raw = u.text("raw")
	}
	if ok && raw == "" {
		host := joined(u.get("host"), ".")
		if port := u.text("port"); port != "" {
			host += ":" + port
		}
		raw = u.text("protocol") + "://" + host + "/" + joined(u.get("path"), "/")
		raw = strings.TrimPrefix(raw, "://")
	}
	if ok {
		base, query, asks := strings.Cut(raw, "?")
		for _, v := range u.list("variable") { // :name in the path
			q, _ := v.(*object)
			if key := q.text("key"); key != "" {
				value := q.text("value")
				if value == "" {
					value = "1"
				}
				base = replaceSegment(base, ":"+key, c.pathParam(key, value))
			}
		}
		if parts, has := u.get("query").([]any); has {
			query, asks = queryOf(parts), false
			asks = query != ""
		}
		if raw = base; asks {
			raw += "?" + query
		}
	}
	raw = c.fill(raw)
	if !strings.Contains(raw, "://") && !strings.HasPrefix(raw, string(paramOpen)) && raw != "" {
		raw = "http://" + raw
	}
	return raw
}

func (c *collection) pathParam(key, value string) string {
	if strings.Contains(value, "{{") {
		return value
	}
	return c.p.param(key, value, "part of a path")
}

func replaceSegment(base, segment, by string) string {
	all := strings.Split(base, "/")
	for i := range all {
		if all[i] == segment {
			all[i] = by
		}
	}
	return strings.Join(all, "/")
}

// queryOf writes the query of its enabled parts, as they are.
func queryOf(parts []any) string {
	var out []string
	for _, v := range parts {
		q, _ := v.(*object)
		if q == nil || q.get("disabled") == true {
			continue
		}
		one := q.text("key")
		if q.get("value") != nil {
			one += "=" + q.text("value")
		}
		out = append(out, strings.NewReplacer("&", "%26", "#", "%23").Replace(one))
	}
	return strings.Join(out, "&")
}

func joined(v any, glue string) string {
	all, ok := v.([]any)
	if !ok {
		return scalar(v)
	}
	var out []string
	for _, e := range all {
		if o, ok := e.(*object); ok {
			e = o.get("value")
		}
		out = append(out, scalar(e))
	}
	return strings.Join(out, glue)
}

// fill puts params in the place of {{name}}.
func (c *collection) fill(s string) string {
	if !strings.Contains(s, "{{") {
		return s
	}
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, "{{")
		name, after, closed := strings.Cut(rest, "}}")
		if !ok || !closed || len(name) > 100 || strings.ContainsAny(name, "{\n\"") {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(before)
		b.WriteString(c.variable(strings.TrimSpace(name)))
		s = after
	}
}

// inner fills in what a variable is made of, if all of it is known.
func (c *collection) inner(value string) string {
	made := value
	for range 10 {
		before, rest, ok := strings.Cut(made, "{{")
		name, after, closed := strings.Cut(rest, "}}")
		other, known := c.vars[strings.TrimSpace(name)]
		if !ok {
			return made
		}
		if !closed || !known || len(made)+len(other) > 4000 {
			return value
		}
		made = before + other + after
	}
	return value
}

func (c *collection) variable(name string) string {
	name = bare(name)
	value, known := c.vars[name]
	if known {
		value = c.inner(value)
	}
	switch {
	case strings.HasPrefix(name, "$"):
		c.p.note("Postman draws {{%s}} for each request: here it is a param, one value; a function can draw with vu.random", name)
		value = map[string]string{"$timestamp": "1735689600", "$randomInt": "42", "$guid": "00000000-0000-4000-8000-000000000000"}[name]
		if value == "" {
			value = "text"
		}
		return c.p.param(strings.TrimPrefix(name, "$"), value, "Postman draws {{"+name+"}}")
	case known && value != "" && (isSecret(name, value) || c.secrets[name]):
		return c.p.secret(name, value, "{{"+name+"}} of the collection")
	case known && value != "" && len(value) < 2000:
		if strings.Contains(value, "{{") { // one of others
			value = strings.NewReplacer("{{", "", "}}", "").Replace(value)
			c.p.note("the variable %s is made of others: set it with --set", clip(name, 40))
		}
		return c.p.param(name, value, "")
	}
	if c.p.find(identifier(name)) < 0 {
		c.p.note("the collection does not say what {{%s}} is: set it with --set %s=...", clip(name, 40), identifier(name))
	}
	return c.p.param(name, placeholder, "{{"+name+"}}, which an environment or a script sets")
}
