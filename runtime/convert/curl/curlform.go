package curl

import (
	"hyperscale/core/workflow/language"
	"hyperscale/runtime/convert"
	"path"
	"strings"
)

// part reads name=value, name=@file;type=...;filename=..., name=<file.
func (c *curling) part(text string, form bool) {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		c.p.Note("curl's -F %q is not kept: it is not name=value", language.Clip(text, 40))
		return
	}
	q := convert.Part{Name: name, Value: value}
	if !form {
		c.parts = append(c.parts, q)
		return
	}
	from := ""
	if strings.HasPrefix(value, "@") || strings.HasPrefix(value, "<") {
		from, value = value[:1], value[1:]
	}
	if from == "" && strings.HasPrefix(value, "(") || name == "" {
		c.p.Note("curl's -F %q is not kept: a form within a form, or a part without a name, cannot be said", language.Clip(text, 40))
		return
	}
	content, rest := formWord(value)
	q.Value = content
	for rest != "" {
		var option string
		option, rest = formOption(rest)
		key, v, ok := strings.Cut(option, "=")
		switch key = strings.TrimSpace(key); {
		case ok && key == "type":
			q.Kind = strings.Trim(strings.TrimSpace(v), "\"")
		case ok && key == "filename":
			q.Filename, _ = formWord(v)
		default:
			c.warnings = append(c.warnings, "curl does not send \";"+convert.Shown(option)+"\" of the part "+convert.Shown(name)+", as ; begins an option there: nor is it here")
		}
	}
	if from != "" {
		c.filePart(&q, content, from == "@")
	}
	if q.Kind == "" && q.Filename != "" {
		q.Kind = curlKind(q.Filename)
	}
	c.parts = append(c.parts, q)
}

// formWord reads a text, in quotes or up to a semicolon, and returns the rest.
func formWord(s string) (word, rest string) {
	if strings.HasPrefix(s, "\"") {
		var b strings.Builder
		for i := 1; i < len(s); i++ {
			switch {
			case s[i] == '\\' && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\'):
				i++
				b.WriteByte(s[i])
			case s[i] == '"':
				_, rest, _ = strings.Cut(s[i+1:], ";")
				return b.String(), rest
			default:
				b.WriteByte(s[i])
			}
		}
	}
	word, rest, _ = strings.Cut(s, ";")
	return strings.Trim(word, " \t"), rest
}

// formOption cuts one off; those that a content type has are part of it.
func formOption(s string) (option, rest string) {
	quoted := false
	kind := strings.HasPrefix(strings.TrimSpace(s), "type=")
	for i := range len(s) {
		switch {
		case s[i] == '"':
			quoted = !quoted
		case s[i] == ';' && !quoted:
			next := strings.TrimSpace(s[i+1:])
			if kind && !strings.HasPrefix(next, "filename=") && !strings.HasPrefix(next, "type=") && !strings.HasPrefix(next, "headers=") && !strings.HasPrefix(next, "encoder=") {
				continue
			}
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}

func (c *curling) filePart(q *convert.Part, name string, upload bool) {
	file, ok := c.p.Beside(name)
	if !ok {
		file = convert.BaseName(name)
		c.warnings = append(c.warnings, "curl sends the file "+convert.Shown(name)+": put it beside this one and write file(\""+file+"\") in its place")
		q.Value = "contents of " + file
	} else {
		q.File = file
	}
	if upload && q.Filename == "" {
		q.Filename = convert.BaseName(name)
	}
}

// curlKind is the content type that curl guesses; elsewhere the language's own is the same as curl's.
func curlKind(file string) string {
	return map[string]string{".gif": "image/gif", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".svg": "image/svg+xml",
		".txt": "text/plain", ".htm": "text/html", ".html": "text/html", ".pdf": "application/pdf", ".xml": "application/xml"}[strings.ToLower(path.Ext(file))]
}
