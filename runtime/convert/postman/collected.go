package postman

import (
	"encoding/json"
	"hyperscale/core/workflow/language"
	"hyperscale/runtime/convert"
	"slices"
	"strings"
)

// body is one of raw, urlencoded, formdata, file and graphql.
func (c *collection) body(s *convert.Step, b *convert.Object) {
	if b == nil || b.Get("disabled") == true {
		return
	}
	switch b.Text("mode") {
	case "raw":
		c.raw(s, b)
	case "urlencoded":
		for _, v := range b.List("urlencoded") {
			if q, _ := v.(*convert.Object); q != nil && q.Get("disabled") != true {
				s.Body.Kind = convert.BodyForm
				s.Body.Form = append(s.Body.Form, convert.Pair{Name: c.fill(q.Text("key")), Value: c.fill(q.Text("value"))})
			}
		}
	case "formdata":
		for _, v := range b.List("formdata") {
			if q, _ := v.(*convert.Object); q != nil && q.Get("disabled") != true {
				files := q.List("src")
				if q.Text("type") != "file" || len(files) < 2 {
					s.Body.Parts = append(s.Body.Parts, c.part(s, q, q.Get("src")))
					continue
				}
				for _, file := range files[:min(len(files), 100)] {
					s.Body.Parts = append(s.Body.Parts, c.part(s, q, file))
				}
			}
		}
		if len(s.Body.Parts) > 0 {
			s.Body.Kind = convert.BodyMultipart
			s.Headers = slices.DeleteFunc(s.Headers, func(h convert.Pair) bool {
				return strings.EqualFold(h.Name, "Content-Type") && strings.HasPrefix(strings.ToLower(h.Value), "multipart/form-data")
			})
			c.p.TidyParts(s)
		}
	case "file":
		src := b.Object("file").Text("src")
		c.file(s, src)
	case "graphql":
		c.graphql(s, b.Object("graphql"))
	}
}

// graphql is JSON; variables that are none as they stand are sent as they stand.
func (c *collection) graphql(s *convert.Step, g *convert.Object) {
	payload := &convert.Object{}
	payload.Put("query", c.fill(g.Text("query")))
	if name := g.Text("operationName"); name != "" {
		payload.Put("operationName", c.fill(name))
	}
	s.Body = convert.Body{Kind: convert.BodyJSON, Json: payload}
	text := strings.TrimSpace(c.fill(g.Text("variables")))
	if text == "" {
		return
	}
	if v, err := convert.ParseJSON([]byte(text), true); err == nil && convert.PlainNumbers(v) {
		payload.Put("variables", convert.BareKeys(v))
		return
	}
	if !convert.Marked(text) && !json.Valid([]byte(text)) {
		c.p.Warn(s, "its GraphQL variables are no JSON and are not kept")
		return
	}
	var members []string
	for i, k := range payload.Keys {
		members = append(members, convert.JsonText(k)+":"+convert.JsonText(payload.Values[i]))
	}
	s.Body = convert.Body{Kind: convert.BodyText, Text: "{" + strings.Join(members, ",") + `,"variables":` + text + "}"}
	s.Headers = slices.DeleteFunc(s.Headers, func(h convert.Pair) bool { return strings.EqualFold(h.Name, "Content-Type") })
	s.Headers = append(s.Headers, convert.Pair{Name: "Content-Type", Value: "application/json"})
}

func (c *collection) file(s *convert.Step, name string) {
	if name == "" {
		c.p.Warn(s, "its body is a file that is not named: write body = file(\"name\")")
		return
	}
	if file, ok := c.p.Beside(name); ok {
		s.Body = convert.Body{Kind: convert.BodyFile, Text: file}
		return
	}
	file := convert.BaseName(name)
	c.p.Warn(s, "it sends the file %s: put it beside this one and write body = file(%q)", file, file)
	s.Body = convert.Body{Kind: convert.BodyText, Text: "contents of " + file}
}

func (c *collection) raw(s *convert.Step, b *convert.Object) {
	text := c.fill(b.Text("raw"))
	if text == "" {
		return
	}
	s.Body = convert.Body{Kind: convert.BodyText, Text: text}
	if slices.ContainsFunc(s.Headers, func(h convert.Pair) bool { return strings.EqualFold(h.Name, "Content-Type") }) {
		return
	}
	kind := map[string]string{"json": "application/json", "xml": "application/xml", "html": "text/html", "javascript": "application/javascript"}[b.Object("options").Object("raw").Text("language")]
	if kind == "" {
		kind = "text/plain"
	}
	s.Headers = append(s.Headers, convert.Pair{Name: "Content-Type", Value: kind})
}

func (c *collection) part(s *convert.Step, q *convert.Object, src any) convert.Part {
	one := convert.Part{Name: c.fill(q.Text("key")), Value: c.fill(q.Text("value")), Kind: q.Text("contentType")}
	if q.Text("type") != "file" {
		return one
	}
	name := joined(src, " ")
	if file, ok := c.p.Beside(name); ok && name != "" {
		one.File, one.Filename = file, convert.BaseName(name)
		return one
	}
	one.Filename = "file"
	if name != "" {
		one.Filename = convert.BaseName(name)
	}
	one.Value = "contents of " + one.Filename
	c.p.Warn(s, "it sends the file %s: put it beside this one and write file(%q)", one.Filename, one.Filename)
	return one
}

// auth adds authorization, whose fields 2.0 writes as an object and 2.1 as a list.
func (c *collection) auth(s *convert.Step, a *convert.Object) {
	kind := a.Text("type")
	if a == nil || kind == "noauth" || kind == "" {
		return
	}
	field := func(name string) string {
		if o := a.Object(kind); o != nil {
			return c.fill(o.Text(name))
		}
		for _, v := range a.List(kind) {
			if q, _ := v.(*convert.Object); q.Text("key") == name {
				return c.fill(q.Text("value"))
			}
		}
		return ""
	}
	switch kind {
	case "bearer":
		s.Auth = &convert.Auth{Bearer: true, Password: field("token")}
	case "basic":
		s.Auth = &convert.Auth{User: field("username"), Password: field("password")}
	case "digest":
		s.Auth = &convert.Auth{Digest: true, User: field("username"), Password: field("password")}
	case "apikey":
		q := convert.Pair{Name: field("key"), Value: field("value")}
		if q.Value != "" && !convert.Marked(q.Value) {
			q.Value = c.p.Secret(convert.Bare(q.Name), q.Value, "API key")
		}
		if field("in") == "query" {
			s.Params = append(s.Params, q)
		} else {
			s.Headers = append(s.Headers, q)
		}
	case "oauth2":
		c.p.Note("OAuth 2.0 tokens are not fetched: get one, and --set token=...")
		token := field("accessToken")
		if token == "" {
			token = c.p.Secret("token", "oauth2", "an OAuth 2.0 token")
		}
		s.Auth = &convert.Auth{Bearer: true, Password: token}
	default:
		c.p.Warn(s, "authorization of kind %s is not kept", language.Clip(kind, 30))
	}
}
