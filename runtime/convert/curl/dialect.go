package curl

import (
	"strings"
)

// unixLine makes a line of Windows' cmd one of a shell: ^ escapes there, "" is a quote in quotes,
// and $, ` and ' say nothing.
func unixLine(text string) string {
	if !strings.Contains(text, "^\n") && !strings.Contains(text, "^\r\n") && !strings.Contains(text, "^\"") && !strings.Contains(text, "\"{\"\"") {
		return text
	}
	text = uncaret(text)
	var b strings.Builder
	quoted := false
	for i := 0; i < len(text); i++ {
		next := byte(0)
		if i+1 < len(text) {
			next = text[i+1]
		}
		switch c := text[i]; {
		case c == '\\' && (next == '"' || next == '\\'):
			b.WriteString(text[i : i+2])
			i++
		case c == '\\' && !quoted:
			b.WriteString(`\\`)
		case c == '"' && quoted && next == '"':
			b.WriteString(`\"`)
			i++
		case c == '"':
			quoted = !quoted
			b.WriteByte(c)
		case c == '$' || c == '`' || c == '\'' && !quoted:
			b.WriteString(`\` + string(c))
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// uncaret takes the carets of cmd away, and the ends of line behind them.
func uncaret(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '^' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		switch text[i] {
		case '\r':
			if i+1 < len(text) && text[i+1] == '\n' {
				i++
			}
		case '\n':
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

// typed replaces a word processor's quotes by those of a keyboard.
func (p reader) typed(text string) string {
	if strings.ContainsAny(text, `"'`) || !strings.ContainsAny(text, "\u201C\u201D\u2018\u2019") {
		return text
	}
	p.Note("the line has typographic quotes, which no shell knows: they are read as plain ones")
	return strings.NewReplacer("\u201C", `"`, "\u201D", `"`, "\u2018", "'", "\u2019", "'").Replace(text)
}
