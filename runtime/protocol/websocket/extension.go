package websocket

import (
	"fmt"
	"strconv"
	"strings"
)

// extension is what the two sides agreed on.
type extension struct {
	deflate bool
	fresh   bool // the server forgets its context after each message
}

// parseExtension reads the one extension that a server may choose, permessage-deflate, and says
// what is wrong with it.
func parseExtension(text string) (extension, string) {
	if strings.Contains(text, ",") {
		return extension{}, fmt.Sprintf("the server chose more than one extension: %.120q", text)
	}
	name, rest, _ := strings.Cut(text, ";")
	if name = strings.Trim(name, " \t"); !strings.EqualFold(name, "permessage-deflate") {
		return extension{}, fmt.Sprintf("the server chose the extension %.80q, which was not offered", name)
	}
	chosen := extension{deflate: true}
	seen := map[string]bool{}
	for rest != "" {
		var part string
		part, rest, _ = strings.Cut(rest, ";")
		key, value, has := strings.Cut(strings.Trim(part, " \t"), "=")
		key = strings.Trim(key, " \t")
		value = unquoted(strings.Trim(value, " \t"))
		wrong := false
		switch key {
		case "server_no_context_takeover":
			chosen.fresh = true
			wrong = has
		case "client_no_context_takeover":
			wrong = has
		case "server_max_window_bits":
			wrong = !has || !isWindow(value)
		default: // client_max_window_bits, too: it answers an offer that was not made
			wrong = true
		}
		if wrong || seen[key] {
			return extension{}, fmt.Sprintf("the server chose permessage-deflate with %.80q, which was not offered or has no valid value", strings.Trim(part, " \t"))
		}
		seen[key] = true
	}
	return chosen, ""
}

// isWindow accepts 8 to 15, in one way of writing.
func isWindow(value string) bool {
	n, err := strconv.Atoi(value)
	return err == nil && n >= 8 && n <= 15 && value == strconv.Itoa(n)
}

func unquoted(s string) string {
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' {
		return s[1 : len(s)-1]
	}
	return s
}
