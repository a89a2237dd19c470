package redact

import "strings"

// TextMost is how many bytes of a server's text an error keeps. It is more than an example of a result shows, so
// that a mask finds a value whole before the example is cut.
const TextMost = 1 << 10

// Excerpt is the beginning of a text, without secrets and with dots in place of what it lacks. It hides, then
// cuts: a secret of which a part was cut would not be found. An empty secret is none.
func Excerpt(text string, most int, secrets ...string) string {
	longest := 1
	for _, s := range secrets {
		longest = max(longest, len(s))
	}
	var out strings.Builder
	for len(text) > 0 && out.Len() < most {
		left := most - out.Len()
		at, n := first(text[:min(len(text), left+longest-1)], secrets)
		if n == 0 || at >= left {
			keep := min(len(text), left)
			out.WriteString(text[:keep])
			text = text[keep:]
			break
		}
		out.WriteString(text[:at])
		out.WriteString(Hidden)
		text = text[at+n:]
	}
	if len(text) > 0 {
		out.WriteString(cut)
	}
	return out.String()
}

// cut stands behind the beginning of a text.
const cut = "..."

// first finds the secrets that begin first and overlap: where, and how many bytes. No bytes: there is none.
func first(text string, secrets []string) (at, n int) {
	at = len(text)
	for _, s := range secrets {
		if i := strings.Index(text, s); s != "" && i >= 0 && (i < at || i == at && len(s) > n) {
			at, n = i, len(s)
		}
	}
	for grown := n > 0; grown; {
		grown = false
		for _, s := range secrets {
			if i := strings.Index(text[at:], s); s != "" && i >= 0 && i < n && i+len(s) > n {
				n, grown = i+len(s), true
			}
		}
	}
	return at, n
}
