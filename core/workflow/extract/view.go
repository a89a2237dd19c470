package extract

import (
	"hyperscale/core/workflow/language"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Fields are the header fields of a response, as received.
type Fields interface {
	Len() int
	At(i int) (name, value []byte)
}

// View is a complete response for Extract and Expect. It is reused: a result of From may lie in
// it, and is valid until its next use.
type View struct {
	Status  int
	Code    string // the protocol's own word; empty: it has none
	Latency time.Duration
	Size    int64 // of the body, also if it was not kept
	Fields  Fields
	Body    []byte

	scratch []byte // for decoded values
}

// field returns the first header with that name, in any case.
func (r *View) field(name string) ([]byte, bool) {
	if r.Fields == nil {
		return nil, false
	}
	for i := range r.Fields.Len() {
		if n, v := r.Fields.At(i); equalFold(n, name) {
			return v, true
		}
	}
	return nil, false
}

// equalFold compares ASCII text without regard to case.
func equalFold(b []byte, s string) bool {
	if len(b) != len(s) {
		return false
	}
	for i, c := range b {
		if low(c) != low(s[i]) {
			return false
		}
	}
	return true
}

func low(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// excerpt returns the beginning of untrusted bytes, fit for display.
func excerpt(b []byte) string {
	const most = 80
	if len(b) == 0 {
		return "an empty body"
	}
	cut := strings.ToValidUTF8(string(b[:min(len(b), most+utf8.UTFMax)]), "?")
	cut = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, cut)
	return strings.TrimSpace(language.Clip(cut, most))
}
