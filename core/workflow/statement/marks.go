package statement

import "strings"

// Marks counts the question marks of a statement. Those in texts, in names in backquotes
// and in comments do not count; MySQL runs what stands in a comment that begins with /*!.
func Marks(text string) (n int) {
	behind := func(at int, end string) int {
		if k := strings.Index(text[min(at, len(text)):], end); k >= 0 {
			return at + k + len(end)
		}
		return len(text)
	}
	for i := 0; i < len(text); i++ {
		rest := text[i:]
		switch c := text[i]; {
		case c == '?':
			n++
		case c == '\'' || c == '"' || c == '`':
			for i++; i < len(text) && text[i] != c; i++ {
				if text[i] == '\\' && c != '`' {
					i++
				}
			}
		case c == '#', strings.HasPrefix(rest, "--") && (len(rest) == 2 || rest[2] <= ' '):
			i = behind(i, "\n") - 1
		case strings.HasPrefix(rest, "/*!") || strings.HasPrefix(rest, "/*M!"):
			i++
		case strings.HasPrefix(rest, "/*"):
			i = behind(i+2, "*/") - 1
		}
	}
	return n
}
