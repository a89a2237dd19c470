package openapi

import (
	"hyperscale/core/workflow/language"
	"hyperscale/runtime/convert"
	"slices"
	"strings"
)

// consumes is the type that an operation of Swagger 2 takes.
func (a *api) consumes(op *convert.Object) string {
	all := op.List("consumes")
	if len(all) == 0 {
		all = a.root.List("consumes")
	}
	for _, v := range all {
		if strings.Contains(convert.Scalar(v), "json") {
			return convert.Scalar(v)
		}
	}
	if len(all) > 0 {
		return convert.Scalar(all[0])
	}
	return ""
}

// bodyOf is the body of Swagger 2.
func (a *api) bodyOf(s *convert.Step, kind string, q *convert.Object) {
	v, _ := a.make(q.Get("schema"), depthMax)
	if kind == "" {
		kind = "application/json"
	}
	a.setBody(s, kind, v)
}

func (a *api) formOf(s *convert.Step, kind string, form *convert.Object) {
	files := false
	v := &convert.Object{}
	for i, name := range form.Keys {
		q := form.Values[i].(*convert.Object)
		if q.Text("type") == "file" {
			files = true
			v.Put(name, &convert.Object{Keys: []string{"format"}, Values: []any{"binary"}})
			continue
		}
		if q.Get("required") == true {
			text, _ := a.example(q)
			v.Put(name, text)
		}
	}
	if files || strings.Contains(kind, "multipart") {
		kind = "multipart/form-data"
	} else {
		kind = "application/x-www-form-urlencoded"
	}
	a.setBody(s, kind, v)
}

// content is the body of OpenAPI 3: JSON if it may be.
func (a *api) content(s *convert.Step, op *convert.Object) {
	request, _ := a.follow(op.Get("requestBody")).(*convert.Object)
	content := request.Object("content")
	if content == nil || len(content.Keys) == 0 {
		return
	}
	at := 0
	for _, want := range []string{"multipart/", "x-www-form-urlencoded", "json"} {
		if i := slices.IndexFunc(content.Keys, func(k string) bool { return strings.Contains(k, want) }); i >= 0 {
			at = i
		}
	}
	media, _ := content.Values[at].(*convert.Object)
	v := media.Get("example")
	if v == nil {
		v = first(media.Object("examples"))
	}
	if v == nil {
		if schema, _ := a.follow(media.Get("schema")).(*convert.Object); strings.HasPrefix(content.Keys[at], "multipart/") && schema != nil {
			v = a.fileFields(schema)
		} else {
			v, _ = a.make(media.Get("schema"), depthMax)
		}
	}
	a.setBody(s, convert.Clean(content.Keys[at]), v)
}

// fileFields is an example of a form that names its files as files.
func (a *api) fileFields(schema *convert.Object) any {
	v, _ := a.make(schema, depthMax)
	out, ok := v.(*convert.Object)
	if !ok {
		return v
	}
	for i, name := range schema.Object("properties").Members() {
		if q, _ := a.follow(schema.Object("properties").Values[i]).(*convert.Object); q.Text("format") == "binary" && out.Index(name) >= 0 {
			out.Put(name, &convert.Object{Keys: []string{"format"}, Values: []any{"binary"}})
		}
	}
	return out
}

func (a *api) setBody(s *convert.Step, kind string, v any) {
	o, isObject := v.(*convert.Object)
	switch {
	case v == nil:
		a.p.Warn(s, "its body (%s) is not described: write one", language.Clip(kind, 60))
	case strings.Contains(kind, "json") || kind == "*/*":
		text := cleanJSON(v)
		if !convert.PlainNumbers(text) {
			a.p.Warn(s, "its body has numbers that cannot be kept as they are written: write them")
			return
		}
		s.Body = convert.Body{Kind: convert.BodyJSON, Json: text}
		if kind != "application/json" && kind != "*/*" {
			s.Headers = append(s.Headers, convert.Pair{Name: "Content-Type", Value: kind})
		}
	case strings.HasPrefix(kind, "multipart/") && isObject:
		s.Body.Kind = convert.BodyMultipart
		for i, name := range o.Keys {
			q := convert.Part{Name: convert.Clean(name), Value: flat(o.Values[i])}
			if f, ok := o.Values[i].(*convert.Object); ok && f.Text("format") == "binary" {
				q.Filename, q.Value = convert.Clean(name)+".bin", "contents of "+convert.Clean(name)
				a.p.Warn(s, "%s is a file: put one beside this and write http.part(file(\"name\"), filename = \"name\")", language.Clip(name, 40))
			}
			s.Body.Parts = append(s.Body.Parts, q)
		}
		a.p.TidyParts(s)
	case strings.Contains(kind, "x-www-form-urlencoded") && isObject:
		s.Body.Kind = convert.BodyForm
		for i, name := range o.Keys {
			s.Body.Form = append(s.Body.Form, convert.Pair{Name: convert.Clean(name), Value: flat(o.Values[i])})
		}
	default:
		s.Body = convert.Body{Kind: convert.BodyText, Text: flat(v)}
		s.Headers = append(s.Headers, convert.Pair{Name: "Content-Type", Value: kind})
		if _, text := v.(string); !text {
			a.p.Warn(s, "its body is to be %s, which is not made here: write one", language.Clip(kind, 60))
			s.Body.Text = "text"
		}
	}
}

// flat is a value as one text.
func flat(v any) string {
	if all, ok := v.([]any); ok {
		var out []string
		for _, e := range all {
			out = append(out, flat(e))
		}
		return strings.Join(out, ",")
	}
	return convert.Scalar(v)
}
