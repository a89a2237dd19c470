package convert

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"slices"
	"strings"
)

// shapeBody reads a body's text by its content type.
func (p *plan) shapeBody(s *step) {
	at := slices.IndexFunc(s.headers, func(h pair) bool { return strings.EqualFold(h.name, "Content-Type") })
	header := ""
	if at >= 0 {
		header = s.headers[at].value
	}
	kind, options, _ := mime.ParseMediaType(header)
	if s.body.kind == bodyText && len(s.body.text) > bodyMax {
		p.warn(s, "its body of %d bytes is too large for this file: save it beside the file and write body = file(\"name\")", len(s.body.text))
		s.body = body{}
	}
	if s.body.kind == bodyText && !s.body.bytes {
		p.readBody(s, kind, options["boundary"])
	}
	if s.body.kind == bodyForm {
		for i := range s.body.form {
			if marked(s.body.form[i].name) {
				s.body.form[i].name = p.resolved(s.body.form[i].name)
			}
		}
	}
	automatic := map[bodyKind]string{bodyJSON: "application/json", bodyForm: "application/x-www-form-urlencoded", bodyMultipart: "multipart/form-data"}[s.body.kind]
	if at >= 0 && automatic != "" && (kind == automatic && (len(options) == 0 || kind == "multipart/form-data")) {
		s.headers = slices.Delete(s.headers, at, at+1)
	}
}

func (p *plan) readBody(s *step, kind, boundary string) {
	b := &s.body
	switch {
	case kind == "application/json" || strings.HasSuffix(kind, "+json") || kind == "text/json":
		if v, err := parseJSON([]byte(b.text), true); err == nil && v != nil && plainNumbers(v) {
			s.body = body{kind: bodyJSON, json: bareKeys(v)}
		}
	case kind == "application/x-www-form-urlencoded":
		if all, ok := splitQuery(b.text); ok && len(all) > 0 {
			s.body = body{kind: bodyForm, form: all}
		}
	case kind == "multipart/form-data" && boundary != "" && b.text != "":
		if parts, err := readParts(b.text, boundary); err == nil && len(parts) > 0 {
			s.body = body{kind: bodyMultipart, parts: parts}
			p.tidyParts(s)
		}
	}
}

// plainNumbers says whether each number can be written, and is read as the same.
func plainNumbers(v any) bool {
	switch v := v.(type) {
	case json.Number:
		text := v.String()
		if len(text) > 15 {
			return false
		}
		if strings.ContainsAny(text, "eE") {
			return false
		}
		return text != "-0" && !(strings.Contains(text, ".") && strings.HasSuffix(text, "0") && !strings.HasSuffix(text, ".0"))
	case []any:
		for _, e := range v {
			if !plainNumbers(e) {
				return false
			}
		}
	case *object:
		for _, e := range v.values {
			if !plainNumbers(e) {
				return false
			}
		}
	}
	return true
}

// bareKeys takes marks out of names, where the language has none.
func bareKeys(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = bareKeys(v[i])
		}
	case *object:
		out := &object{}
		for i, k := range v.keys {
			out.put(bare(k), bareKeys(v.values[i]))
		}
		return out
	}
	return v
}

func readParts(text, boundary string) ([]part, error) {
	r := multipart.NewReader(bytes.NewReader([]byte(text)), boundary)
	var parts []part
	for len(parts) < 200 {
		q, err := r.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(io.LimitReader(q, bodyMax))
		if err != nil {
			return nil, err
		}
		parts = append(parts, part{name: clean2(q.FormName()), value: clean2(string(data)), filename: clean2(q.FileName()), kind: q.Header.Get("Content-Type")})
	}
	return parts, nil
}

// tidyParts makes each part one that the language can say.
func (p *plan) tidyParts(s *step) {
	var kept []part
	for _, q := range s.body.parts {
		q.name, q.filename, q.kind = bare(q.name), headerValue(bare(q.filename)), headerValue(bare(q.kind))
		switch {
		case q.name == "":
			continue
		case len(q.value) > bodyMax:
			p.warn(s, "the part %q of %d bytes is too large for this file", clip(q.name, 40), len(q.value))
			q.value = ""
		}
		kept = append(kept, q)
	}
	if s.body.parts = kept; len(kept) == 0 {
		s.body = body{}
	}
}
