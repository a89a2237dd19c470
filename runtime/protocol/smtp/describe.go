package smtp

import (
	"bytes"
)

// Describe appends a line about the commands of a greeting. What proves the user is not shown.
func Describe(dst, b []byte) []byte {
	for line := range bytes.Lines(b) {
		line = bytes.TrimSpace(line)
		if len(dst) > 0 {
			dst = append(dst, "; "...)
		}
		word, rest, _ := bytes.Cut(line, []byte(" "))
		switch name, proof, more := bytes.Cut(rest, []byte(" ")); string(word) {
		case "EHLO", "HELO", "STARTTLS", "QUIT", "RSET", "NOOP":
			dst = append(dst, line...)
		case "AUTH":
			if dst = append(append(append(dst, word...), ' '), name...); more && len(proof) > 0 {
				dst = append(dst, " "+hiddenText...)
			}
		default:
			dst = append(dst, hiddenText...)
		}
	}
	return dst
}
