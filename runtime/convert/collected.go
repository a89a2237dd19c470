package convert

import (
	"encoding/json"
	"slices"
	"strings"
)

// body is one of raw, urlencoded, formdata, file and graphql.
func (c *collection) body(s *step, b *object) {
	if b == nil || b.get("disabled") == true {
		return
	}
	switch b.text("mode") {
	case "raw":
		c.raw(s, b)
	case "urlencoded":
		for _, v := range b.list("urlencoded") {
			if q, _ := v.(*object); q != nil && q.get("disabled") != true {
				s.body.kind = bodyForm
				s.body.form = append(s.body.form, pair{c.fill(q.text("key")), c.fill(q.text("value"))})
			}
		}
	case "formdata":
		for _, v := range b.list("formdata") {
			if q, _ := v.(*object); q != nil && q.get("disabled") != true {
				files := q.list("src")
				if q.text("type") != "file" || len(files) < 2 {
					s.body.parts = append(s.body.parts, c.part(s, q, q.get("src")))
					continue
				}
				for _, file := range files[:min(len(files), 100)] {
					s.body.parts = append(s.body.parts, c.part(s, q, file))
				}
			}
		}
		if len(s.body.parts) > 0 {
			s.body.kind = bodyMultipart
			s.headers = slices.DeleteFunc(s.headers, func(h pair) bool {
				return strings.EqualFold(h.name, "Content-Type") && strings.HasPrefix(strings.ToLower(h.value), "multipart/form-data")
			})
			c.p.tidyParts(s)
		}
	case "file":
		src := b.object("file").text("src")
		c.file(s, src)
	case "graphql":
		c.graphql(s, b.object("graphql"))
	}
}

// graphql is JSON; variables that are none as they stand are sent as they stand.
func (c *collection) graphql(s *step, g *object) {
	payload := &object{}
	payload.put("query", c.fill(g.text("query")))
	if name := g.text("operationName"); name != "" {
		payload.put("operationName", c.fill(name))
	}
	s.body = body{kind: bodyJSON, json: payload}
	text := strings.TrimSpace(c.fill(g.text("variables")))
	if text == "" {
		return
	}
	if v, err := parseJSON([]byte(text), true); err == nil && plainNumbers(v) {
		payload.put("variables", bareKeys(v))
		return
	}
	if !marked(text) && !json.Valid([]byte(text)) {
		c.p.warn(s, "its GraphQL variables are no JSON and are not kept")
		return
	}
	var members []string
	for i, k := range payload.keys {
		members = append(members, jsonText(k)+":"+jsonText(payload.values[i]))
	}
	s.body = body{kind: bodyText, text: "{" + strings.Join(members, ",") + `,"variables":` + text + "}"}
	s.headers = slices.DeleteFunc(s.headers, func(h pair) bool { return strings.EqualFold(h.name, "Content-Type") })
	s.headers = append(s.headers, pair{"Content-Type", "application/json"})
}

func (c *collection) file(s *step, name string) {
	if name == "" {
		c.p.warn(s, "its body is a file that is not named: write body = file(\"name\")")
		return
	}
	if file, ok := c.p.beside(name); ok {
		s.body = body{kind: bodyFile, text: file}
		return
	}
	file := baseName(name)
	c.p.warn(s, "it sends the file %s: put it beside this one and write body = file(%q)", file, file)
	s.body = body{kind: bodyText, text: "contents of " + file}
}

func (c *collection) raw(s *step, b *object) {
	text := c.fill(b.text("raw"))
	if text == "" {
		return
	}
	s.body = body{kind: bodyText, text: text}
	if slices.ContainsFunc(s.headers, func(h pair) bool { return strings.EqualFold(h.name, "Content-Type") }) {
		return
	}
	kind := map[string]string{"json": "application/json", "xml": "application/xml", "html": "text/html", "javascript": "application/javascript"}[b.object("options").object("raw").text("language")]
	if kind == "" {
		kind = "text/plain"
	}
	s.headers = append(s.headers, pair{"Content-Type", kind})
}

func (c *collection) part(s *step, q *object, src any) part {
	one := part{name: c.fill(q.text("key")), value: c.fill(q.text("value")), kind: q.text("contentType")}
	if q.text("type") != "file" {
		return one
	}
	name := joined(src, " ")
	if file, ok := c.p.beside(name); ok && name != "" {
		one.file, one.filename = file, baseName(name)
		return one
	}
	one.filename = "file"
	if name != "" {
		one.filename = baseName(name)
	}
	one.value = "contents of " + one.filename
	c.p.warn(s, "it sends the file %s: put it beside this one and write file(%q)", one.filename, one.filename)
	return one
}

// auth adds authorization, whose fields 2.0 writes as an object and 2.1 as a list.
func (c *collection) auth(s *step, a *object) {
	kind := a.text("type")
	if a == nil || kind == "noauth" || kind == "" {
		return
	}
	field := func(name string) string {
		if o := a.object(kind); o != nil {
			return c.fill(o.text(name))
		}
		for _, v := range a.list(kind) {
			if q, _ := v.(*object); q.text("key") == name {
				return c.fill(q.text("value"))
			}
		}
		return ""
	}
	switch kind {
	case "bearer":
		s.auth = &auth{bearer: true, password: field("token")}
	case "basic":
		s.auth = &auth{user: field("username"), password: field("password")}
	case "apikey":
		q := pair{field("key"), field("value")}
		if q.value != "" && !marked(q.value) {
			q.value = c.p.secret(bare(q.name), q.value, "API key")
		}
		if field("in") == "query" {
			s.params = append(s.params, q)
		} else {
			s.headers = append(s.headers, q)
		}
	case "oauth2":
		c.p.note("OAuth 2.0 tokens are not fetched: get one, and --set token=...")
		token := field("accessToken")
		if token == "" {
			token = c.p.secret("token", "oauth2", "an OAuth 2.0 token")
		}
		s.auth = &auth{bearer: true, password: token}
	default:
		c.p.warn(s, "authorization of kind %s is not kept", clip(kind, 30))
	}
}
