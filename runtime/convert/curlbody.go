package convert

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// datum is what one of curl's options adds to the body: a text, or a file.
type datum struct {
	text    string
	file    string // - is what curl reads
	lines   bool   // its line breaks are sent
	escaped bool   // it is, as a part of a form
}

// bodyOf is the data, the form or the file that curl sends.
func (c *curling) bodyOf(s *step) {
	switch {
	case c.get || c.head && len(c.data) > 0:
		if len(c.data) > 0 {
			s.url = withQuery(s.url, []string{c.joined(s)})
		}
	case len(c.parts) > 0:
		s.body = body{kind: bodyMultipart, parts: slices.Clone(c.parts)}
		s.headers = slices.DeleteFunc(s.headers, func(h pair) bool {
			return strings.EqualFold(h.name, "Content-Type") && strings.HasPrefix(strings.ToLower(h.value), "multipart/form-data")
		})
		c.p.tidyParts(s)
	case c.upload != "":
		c.fileBody(s, c.upload)
	case len(c.data) > 0:
		c.dataOf(s)
	}
}

func (c *curling) dataOf(s *step) {
	kind := "application/x-www-form-urlencoded"
	if c.json {
		kind = "application/json"
	}
	typed := has(s.headers, "Content-Type")
	for _, h := range s.headers {
		if strings.EqualFold(h.name, "Content-Type") {
			kind = h.value
		}
	}
	one := c.data[0]
	name := one.file
	if name == "-" {
		name = c.in.from
	}
	_, here := c.p.beside(name)
	if len(c.data) == 1 && name != "" && !one.escaped && (!here || one.lines || strings.Contains(strings.ToLower(kind), "json")) {
		c.fileBody(s, name)
	} else {
		s.body = body{kind: bodyText, text: c.joined(s)}
	}
	if text := s.body.text; !utf8.ValidString(text) {
		if s.body.bytes = !marked(text); !s.body.bytes {
			s.body.text = clean2(text)
			c.warnings = append(c.warnings, "its body has bytes that are no text: they are not kept")
		}
	}
	if typed {
		kind = ""
	} else {
		s.headers = append(s.headers, pair{"Content-Type", kind})
	}
	if t := strings.TrimSpace(s.body.text); kind == "application/x-www-form-urlencoded" && strings.HasPrefix(t, "{") && strings.HasSuffix(t, "}") {
		c.warnings = append(c.warnings, "curl sends this JSON as a form, as no -H 'Content-Type: application/json' was given")
	}
	if c.json && !has(s.headers, "Accept") {
		s.headers = append(s.headers, pair{"Accept", "application/json"})
	}
}

// joined is all data as one text. Files in it are read when the workflow is loaded.
func (c *curling) joined(s *step) string {
	var all []string
	for _, d := range c.data {
		if d.file == "" {
			all = append(all, d.text)
			continue
		}
		all = append(all, d.text+c.contents(d))
	}
	if c.json {
		return strings.Join(all, "")
	}
	return strings.Join(all, "&")
}

// contents is what a file has, as text or as an expression that reads it.
func (c *curling) contents(d datum) string {
	name, text, known := d.file, "", false
	if name == "-" {
		name, text, known = c.in.from, c.in.stdin, c.in.from == "" && c.in.stdin != ""
	}
	if known {
		if !d.lines {
			text = strings.NewReplacer("\r", "", "\n", "").Replace(text)
		}
		if d.escaped {
			text = escapeMarked(text)
		}
		return text
	}
	if name == "" {
		c.warnings = append(c.warnings, "what curl read from its standard input is not known here")
		return "what was piped into curl"
	}
	file, ok := c.p.beside(name)
	if !ok || c.get {
		c.warnings = append(c.warnings, "curl sends what is in the file "+shown(name)+": here it is a text, write str(file(\"...\")) in its place")
		if text = "contents of " + baseName(name); d.escaped || c.get {
			text = escapeMarked(text)
		}
		return text
	}
	code := "str(file(" + quote(file) + "))"
	if !d.lines {
		code += `.replace("\r", "").replace("\n", "")`
	}
	if d.escaped {
		return computedMark("url.encode(" + code + ")")
	}
	return computedMark(code + `.replace("${", "$${")`)
}

// fileBody is a body of a file, or of what was redirected.
func (c *curling) fileBody(s *step, name string) {
	if name == "-" || name == "." {
		switch {
		case c.in.from != "":
			name = c.in.from
		case c.in.stdin != "":
			s.body = body{kind: bodyText, text: c.in.stdin}
			return
		default:
			c.warnings = append(c.warnings, "what curl read from its standard input is not known here")
			s.body = body{kind: bodyText, text: "what was piped into curl"}
			return
		}
	}
	if file, ok := c.p.beside(name); ok {
		s.body = body{kind: bodyFile, text: file}
		return
	}
	file := baseName(name)
	c.warnings = append(c.warnings, fmt.Sprintf("curl sends the file %s: put it beside this one and write body = file(%q)", shown(name), file))
	s.body = body{kind: bodyText, text: "contents of " + file}
}
