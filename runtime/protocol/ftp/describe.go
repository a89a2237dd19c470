package ftp

import "bytes"

// Describe appends a line about the commands of a greeting. The password is not shown.
func Describe(dst, b []byte) []byte {
	for line := range bytes.Lines(b) {
		line = bytes.TrimSpace(line)
		if len(dst) > 0 {
			dst = append(dst, "; "...)
		}
		if bytes.HasPrefix(line, []byte("PASS")) {
			dst = append(dst, "PASS "+hiddenText...)
			continue
		}
		dst = append(dst, line...)
	}
	return dst
}
