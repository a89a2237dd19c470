package curl

import (
	"fmt"
	"hyperscale/runtime/convert"
	"slices"
	"strings"
	"unicode/utf8"
)

// datum is one option's part of the body: a text, or a file.
type datum struct {
	text    string
	file    string // - is what curl reads
	lines   bool   // its line breaks are sent
	escaped bool   // it is, as a part of a form
}

// bodyOf is the data, the form or the file that curl sends.
func (c *curling) bodyOf(s *convert.Step) {
	switch {
	case c.get || c.head && len(c.data) > 0:
		if len(c.data) > 0 {
			s.Url = withQuery(s.Url, []string{c.joined(s)})
		}
	case len(c.parts) > 0:
		s.Body = convert.Body{Kind: convert.BodyMultipart, Parts: slices.Clone(c.parts)}
		s.Headers = slices.DeleteFunc(s.Headers, func(h convert.Pair) bool {
			return strings.EqualFold(h.Name, "Content-Type") && strings.HasPrefix(strings.ToLower(h.Value), "multipart/form-data")
		})
		c.p.TidyParts(s)
	case c.upload != "":
		c.fileBody(s, c.upload)
	case len(c.data) > 0:
		c.dataOf(s)
	}
}

func (c *curling) dataOf(s *convert.Step) {
	kind := "application/x-www-form-urlencoded"
	if c.json {
		kind = "application/json"
	}
	typed := convert.Has(s.Headers, "Content-Type")
	for _, h := range s.Headers {
		if strings.EqualFold(h.Name, "Content-Type") {
			kind = h.Value
		}
	}
	one := c.data[0]
	name := one.file
	if name == "-" {
		name = c.in.from
	}
	_, here := c.p.Beside(name)
	if len(c.data) == 1 && name != "" && !one.escaped && (!here || one.lines || strings.Contains(strings.ToLower(kind), "json")) {
		c.fileBody(s, name)
	} else {
		s.Body = convert.Body{Kind: convert.BodyText, Text: c.joined(s)}
	}
	if text := s.Body.Text; !utf8.ValidString(text) {
		if s.Body.Bytes = !convert.Marked(text); !s.Body.Bytes {
			s.Body.Text = convert.Clean2(text)
			c.warnings = append(c.warnings, "its body has bytes that are no text: they are not kept")
		}
	}
	if typed {
		kind = ""
	} else {
		s.Headers = append(s.Headers, convert.Pair{Name: "Content-Type", Value: kind})
	}
	if t := strings.TrimSpace(s.Body.Text); kind == "application/x-www-form-urlencoded" && strings.HasPrefix(t, "{") && strings.HasSuffix(t, "}") {
		c.warnings = append(c.warnings, "curl sends this JSON as a form, as no -H 'Content-Type: application/json' was given")
	}
	if c.json && !convert.Has(s.Headers, "Accept") {
		s.Headers = append(s.Headers, convert.Pair{Name: "Accept", Value: "application/json"})
	}
}

// joined is all data as one text. Files in it are read when the workflow is loaded.
func (c *curling) joined(s *convert.Step) string {
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

// contents returns a file's content, as text or as an expression that reads it.
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
	file, ok := c.p.Beside(name)
	if !ok || c.get {
		c.warnings = append(c.warnings, "curl sends what is in the file "+convert.Shown(name)+": here it is a text, write str(file(\"...\")) in its place")
		if text = "contents of " + convert.BaseName(name); d.escaped || c.get {
			text = escapeMarked(text)
		}
		return text
	}
	code := "str(file(" + convert.Quote(file) + "))"
	if !d.lines {
		code += `.replace("\r", "").replace("\n", "")`
	}
	if d.escaped {
		return convert.ComputedMark("url.encode(" + code + ")")
	}
	return convert.ComputedMark(code + `.replace("${", "$${")`)
}

// fileBody makes a body from a file, or from redirected input.
func (c *curling) fileBody(s *convert.Step, name string) {
	if name == "-" || name == "." {
		switch {
		case c.in.from != "":
			name = c.in.from
		case c.in.stdin != "":
			s.Body = convert.Body{Kind: convert.BodyText, Text: c.in.stdin}
			return
		default:
			c.warnings = append(c.warnings, "what curl read from its standard input is not known here")
			s.Body = convert.Body{Kind: convert.BodyText, Text: "what was piped into curl"}
			return
		}
	}
	if file, ok := c.p.Beside(name); ok {
		s.Body = convert.Body{Kind: convert.BodyFile, Text: file}
		return
	}
	file := convert.BaseName(name)
	c.warnings = append(c.warnings, fmt.Sprintf("curl sends the file %s: put it beside this one and write body = file(%q)", convert.Shown(name), file))
	s.Body = convert.Body{Kind: convert.BodyText, Text: "contents of " + file}
}
