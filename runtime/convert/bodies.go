package convert

import (
	"bytes"
	"encoding/json"
	"errors"
	"hyperscale/core/workflow/language"
	"io"
	"mime"
	"mime/multipart"
	"slices"
	"strings"
)

// shapeBody reads a body's text by its content type.
func (p *Plan) shapeBody(s *Step) {
	at := slices.IndexFunc(s.Headers, func(h Pair) bool { return strings.EqualFold(h.Name, "Content-Type") })
	header := ""
	if at >= 0 {
		header = s.Headers[at].Value
	}
	kind, options, _ := mime.ParseMediaType(header)
	if s.Body.Kind == BodyText && len(s.Body.Text) > bodyMax {
		p.Warn(s, "its body of %d bytes is too large for this file: save it beside the file and write body = file(\"name\")", len(s.Body.Text))
		s.Body = Body{}
	}
	if s.Body.Kind == BodyText && !s.Body.Bytes {
		p.readBody(s, kind, options["boundary"])
	}
	if s.Body.Kind == BodyForm {
		for i := range s.Body.Form {
			if Marked(s.Body.Form[i].Name) {
				s.Body.Form[i].Name = p.Resolved(s.Body.Form[i].Name)
			}
		}
	}
	automatic := map[bodyKind]string{BodyJSON: "application/json", BodyForm: "application/x-www-form-urlencoded", BodyMultipart: "multipart/form-data"}[s.Body.Kind]
	if at >= 0 && automatic != "" && (kind == automatic && (len(options) == 0 || kind == "multipart/form-data")) {
		s.Headers = slices.Delete(s.Headers, at, at+1)
	}
}

func (p *Plan) readBody(s *Step, kind, boundary string) {
	b := &s.Body
	switch {
	case kind == "application/json" || strings.HasSuffix(kind, "+json") || kind == "text/json":
		if v, err := ParseJSON([]byte(b.Text), true); err == nil && v != nil && PlainNumbers(v) {
			s.Body = Body{Kind: BodyJSON, Json: BareKeys(v)}
		}
	case kind == "application/x-www-form-urlencoded":
		if all, ok := splitQuery(b.Text); ok && len(all) > 0 {
			s.Body = Body{Kind: BodyForm, Form: all}
		}
	case kind == "multipart/form-data" && boundary != "" && b.Text != "":
		if parts, err := readParts(b.Text, boundary); err == nil && len(parts) > 0 {
			s.Body = Body{Kind: BodyMultipart, Parts: parts}
			p.TidyParts(s)
		}
	}
}

// PlainNumbers says whether each number can be written, and is read as the same.
func PlainNumbers(v any) bool {
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
			if !PlainNumbers(e) {
				return false
			}
		}
	case *Object:
		for _, e := range v.Values {
			if !PlainNumbers(e) {
				return false
			}
		}
	}
	return true
}

// BareKeys takes marks out of names, where the language has none.
func BareKeys(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = BareKeys(v[i])
		}
	case *Object:
		out := &Object{}
		for i, k := range v.Keys {
			out.Put(Bare(k), BareKeys(v.Values[i]))
		}
		return out
	}
	return v
}

func readParts(text, boundary string) ([]Part, error) {
	r := multipart.NewReader(bytes.NewReader([]byte(text)), boundary)
	var parts []Part
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
		parts = append(parts, Part{Name: Clean2(q.FormName()), Value: Clean2(string(data)), Filename: Clean2(q.FileName()), Kind: q.Header.Get("Content-Type")})
	}
	return parts, nil
}

// TidyParts makes each part one that the language can say.
func (p *Plan) TidyParts(s *Step) {
	var kept []Part
	for _, q := range s.Body.Parts {
		q.Name, q.Filename, q.Kind = Bare(q.Name), HeaderValue(Bare(q.Filename)), HeaderValue(Bare(q.Kind))
		switch {
		case q.Name == "":
			continue
		case len(q.Value) > bodyMax:
			p.Warn(s, "the part %q of %d bytes is too large for this file", language.Clip(q.Name, 40), len(q.Value))
			q.Value = ""
		}
		kept = append(kept, q)
	}
	if s.Body.Parts = kept; len(kept) == 0 {
		s.Body = Body{}
	}
}
