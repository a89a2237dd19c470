package nats

import (
	"bytes"
	"strings"
)

// hiddenText is what is shown of a secret.
const hiddenText = "***"

// Describe appends a line about the bytes of a greeting: what proves the user is hidden.
func Describe(dst, b []byte) []byte {
	for line := range bytes.Lines(b) {
		if len(dst) > 0 {
			dst = append(dst, "; "...)
		}
		text := strings.TrimSpace(string(line))
		if strings.HasPrefix(text, "CONNECT ") {
			text = "CONNECT " + hiddenText
		}
		dst = append(dst, text...)
	}
	return dst
}

// Show appends a line about a message that goes out: its verb, its subject, and its data.
func (o *Operation) Show(dst []byte, values [][]byte) []byte {
	dst = append(dst, []string{"publish ", "publish and flush ", "publish to a stream ", "request "}[o.Verb]...)
	dst = append(o.Subject.fill(dst, values), ": "...)
	return o.Data.fill(dst, values)
}
