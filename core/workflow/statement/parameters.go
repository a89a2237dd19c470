package statement

import (
	"strconv"
	"strings"
)

// Parameters returns the highest parameter that a statement of PostgreSQL names: 2 for $2. Texts, names
// in quotes and comments have none.
func Parameters(text string) (highest int) {
	behind := func(at int, end string) int {
		if k := strings.Index(text[at:], end); k >= 0 {
			return at + k + len(end)
		}
		return len(text)
	}
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '\'' || c == '"':
			escapes := c == '\'' && i > 0 && (text[i-1] == 'e' || text[i-1] == 'E')
			for i++; i < len(text) && text[i] != c; i++ {
				if escapes && text[i] == '\\' {
					i++
				}
			}
			i++
		case strings.HasPrefix(text[i:], "--"):
			i = behind(i, "\n")
		case strings.HasPrefix(text[i:], "/*"):
			i = behind(i+2, "*/")
		case c == '$':
			n := i + 1
			for n < len(text) && text[n] >= '0' && text[n] <= '9' {
				n++
			}
			if n > i+1 {
				if k, err := strconv.Atoi(text[i+1 : n]); err == nil {
					highest = max(highest, k)
				}
				i = n
				continue
			}
			for n < len(text) && (text[n] == '_' || text[n] >= 'a' && text[n] <= 'z' || text[n] >= 'A' && text[n] <= 'Z' || text[n] >= '0' && text[n] <= '9') {
				n++
			}
			if i++; n < len(text) && text[n] == '$' {
				i = behind(n+1, text[i-1:n+1])
			}
		default:
			i++
		}
	}
	return highest
}
