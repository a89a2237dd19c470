package postman

import (
	"errors"
	"fmt"
	"hyperscale/core/workflow/language"
	"hyperscale/runtime/convert"
	"path"
	"strings"
)

// collection is a Postman collection.
type collection struct {
	p       *convert.Plan
	vars    map[string]string
	secrets map[string]bool // those of type secret
	scripts int
	hidden  int
}

// Convert converts a collection of version 2.0 or 2.1.
func Convert(data []byte, o convert.Options) (*convert.File, error) {
	if len(data) > convert.SourceMax {
		return nil, fmt.Errorf("a collection of %d bytes, the limit is 64 MiB: export a folder of it", len(data))
	}
	root, err := convert.Document(data)
	if err != nil {
		return nil, err
	}
	if inner := root.Object("collection"); inner != nil { // as Postman's API gives it
		root = inner
	}
	if root.List("item") == nil {
		if root.List("requests") != nil {
			return nil, errors.New("a Postman collection of version 1: export it again as \"Collection v2.1\"")
		}
		if other := convert.Known(root); other != "" {
			return nil, errors.New("no Postman collection" + other)
		}
		return nil, errors.New("no Postman collection: it has no item: export one as \"Collection v2.1\"")
	}
	p := &convert.Plan{Options: o}
	p.Head = []string{fmt.Sprintf("Made by: hyperscale new %s --from-postman %s", path.Base(o.File), path.Base(o.From))}
	if name := root.Object("info").Text("name"); name != "" {
		p.Head = append(p.Head, "Collection: "+name)
	}
	c := &collection{p: p, vars: map[string]string{}, secrets: map[string]bool{}}
	for _, v := range root.List("variable") {
		if o, ok := v.(*convert.Object); ok && o.Get("disabled") != true {
			key := o.Text("key")
			if key == "" {
				key = o.Text("id")
			}
			if c.vars[key] = o.Text("value"); o.Text("type") == "secret" {
				c.secrets[key] = true
			}
		}
	}
	c.events(root)
	c.items(root.List("item"), nil, root.Object("auth"), 0)
	if c.scripts > 0 {
		p.Note("%s cannot be kept (JavaScript): write extract = {...}, expect = [...] or functions where it matters", convert.Counted(c.scripts, "pre-request or test script"))
	}
	if c.hidden > 0 {
		p.Note("left out %s of version 1, of another kind or nested too deep", convert.Counted(c.hidden, "item"))
	}
	return p.Finish()
}

func (c *collection) events(o *convert.Object) int {
	n := 0
	for _, v := range o.List("event") {
		e, _ := v.(*convert.Object)
		script := e.Object("script")
		text := script.Text("exec")
		for _, line := range script.List("exec") {
			text += convert.Scalar(line)
		}
		if strings.TrimSpace(text) != "" {
			n++
		}
	}
	c.scripts += n
	return n
}

// items flattens folders; those inside inherit their authorization.
func (c *collection) items(all []any, folders []string, inherited *convert.Object, depth int) {
	for _, v := range all {
		o, ok := v.(*convert.Object)
		if !ok || depth > 20 {
			c.hidden++
			continue
		}
		auth := inherited
		if own := o.Object("auth"); own != nil {
			auth = own
		}
		if inner, ok := o.Get("item").([]any); ok {
			c.events(o)
			c.items(inner, append(folders[:len(folders):len(folders)], o.Text("name")), auth, depth+1)
			continue
		}
		if o.Get("request") == nil {
			c.hidden++
			continue
		}
		if len(c.p.Steps) >= convert.StepsMax {
			c.p.Note("the first %d requests are in the file: more are no test that a person reads", convert.StepsMax)
			return
		}
		c.request(o, auth)
	}
}

func (c *collection) request(o, inherited *convert.Object) {
	s := &convert.Step{Method: "GET", Name: o.Text("name")}
	if strings.ContainsAny(s.Name, "/{}") || strings.HasPrefix(s.Name, "http") {
		s.Name = "" // Postman names a request without a name by its URL
	}
	q, ok := o.Get("request").(*convert.Object)
	if !ok {
		q = &convert.Object{}
		q.Put("url", o.Get("request"))
	}
	if m := q.Text("method"); m != "" {
		s.Method = convert.Bare(c.fill(m))
	}
	s.Url = c.address(q.Get("url"))
	for _, v := range q.List("header") {
		if h, _ := v.(*convert.Object); h != nil && h.Get("disabled") != true {
			s.Headers = append(s.Headers, convert.Pair{Name: c.fill(h.Text("key")), Value: c.fill(h.Text("value"))})
		}
	}
	for _, line := range strings.Split(q.Text("header"), "\n") { // 2.0 has text too
		if name, value, ok := strings.Cut(line, ":"); ok {
			s.Headers = append(s.Headers, convert.Pair{Name: c.fill(strings.TrimSpace(name)), Value: c.fill(strings.TrimSpace(value))})
		}
	}
	c.body(s, q.Object("body"))
	auth := inherited
	if own := q.Object("auth"); own != nil {
		auth = own
	}
	c.auth(s, auth)
	if n := c.events(o); n > 0 {
		s.Comments = append(s.Comments, convert.Counted(n, "script")+" of this request could not be kept.")
	}
	if c.p.Add(s) {
		return
	}
}

// address is the URL of a request.
func (c *collection) address(v any) string {
	u, ok := v.(*convert.Object)
	raw := convert.Scalar(v)
	if ok {
		raw = u.Text("raw")
	}
	if ok && raw == "" {
		host := joined(u.Get("host"), ".")
		if port := u.Text("port"); port != "" {
			host += ":" + port
		}
		raw = u.Text("protocol") + "://" + host + "/" + joined(u.Get("path"), "/")
		raw = strings.TrimPrefix(raw, "://")
	}
	if ok {
		base, query, asks := strings.Cut(raw, "?")
		for _, v := range u.List("variable") { // :name in the path
			q, _ := v.(*convert.Object)
			if key := q.Text("key"); key != "" {
				value := q.Text("value")
				if value == "" {
					value = "1"
				}
				base = replaceSegment(base, ":"+key, c.pathParam(key, value))
			}
		}
		if parts, has := u.Get("query").([]any); has {
			query, asks = queryOf(parts), false
			asks = query != ""
		}
		if raw = base; asks {
			raw += "?" + query
		}
	}
	raw = c.fill(raw)
	if !strings.Contains(raw, "://") && !strings.HasPrefix(raw, string(convert.ParamOpen)) && raw != "" {
		raw = "http://" + raw
	}
	return raw
}

func (c *collection) pathParam(key, value string) string {
	if strings.Contains(value, "{{") {
		return value
	}
	return c.p.Param(key, value, "part of a path")
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
		q, _ := v.(*convert.Object)
		if q == nil || q.Get("disabled") == true {
			continue
		}
		one := q.Text("key")
		if q.Get("value") != nil {
			one += "=" + q.Text("value")
		}
		out = append(out, strings.NewReplacer("&", "%26", "#", "%23").Replace(one))
	}
	return strings.Join(out, "&")
}

func joined(v any, glue string) string {
	all, ok := v.([]any)
	if !ok {
		return convert.Scalar(v)
	}
	var out []string
	for _, e := range all {
		if o, ok := e.(*convert.Object); ok {
			e = o.Get("value")
		}
		out = append(out, convert.Scalar(e))
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

// inner resolves the variables within a variable's value, if all are known.
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
	name = convert.Bare(name)
	value, known := c.vars[name]
	if known {
		value = c.inner(value)
	}
	switch {
	case strings.HasPrefix(name, "$"):
		c.p.Note("Postman draws {{%s}} for each request: here it is a param, one value; a function can draw with vu.random", name)
		value = map[string]string{"$timestamp": "1735689600", "$randomInt": "42", "$guid": "00000000-0000-4000-8000-000000000000"}[name]
		if value == "" {
			value = "text"
		}
		return c.p.Param(strings.TrimPrefix(name, "$"), value, "Postman draws {{"+name+"}}")
	case known && value != "" && (convert.IsSecret(name, value) || c.secrets[name]):
		return c.p.Secret(name, value, "{{"+name+"}} of the collection")
	case known && value != "" && len(value) < 2000:
		if strings.Contains(value, "{{") { // one of others
			value = strings.NewReplacer("{{", "", "}}", "").Replace(value)
			c.p.Note("the variable %s is made of others: set it with --set", language.Clip(name, 40))
		}
		return c.p.Param(name, value, "")
	}
	if c.p.Find(convert.Identifier(name)) < 0 {
		c.p.Note("the collection does not say what {{%s}} is: set it with --set %s=...", language.Clip(name, 40), convert.Identifier(name))
	}
	return c.p.Param(name, convert.Placeholder, "{{"+name+"}}, which an environment or a script sets")
}
