package websocket

import "unicode/utf8"

// text checks that bytes which come in pieces are UTF-8. It rejects a byte as soon as no valid
// sequence can hold it.
type text struct {
	carry [utf8.UTFMax]byte // the beginning of a rune
	n     uint8
}

// add takes a piece and reports whether all so far can be UTF-8.
func (t *text) add(b []byte) bool {
	for t.n > 0 && len(b) > 0 {
		t.carry[t.n] = b[0]
		t.n++
		b = b[1:]
		if !utf8.FullRune(t.carry[:t.n]) {
			continue
		}
		if r, size := utf8.DecodeRune(t.carry[:t.n]); r == utf8.RuneError && size <= 1 {
			return false
		}
		t.n = 0
	}
	if len(b) == 0 {
		return true
	}
	// The last rune may be cut: its first byte is one of the last three.
	whole := len(b)
	for i := len(b) - 1; i >= 0 && i >= len(b)-3; i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				whole = i
			}
			break
		}
	}
	if !utf8.Valid(b[:whole]) {
		return false
	}
	t.n = uint8(copy(t.carry[:], b[whole:]))
	return true
}

// end reports whether the text may end here, and begins anew.
func (t *text) end() bool {
	whole := t.n == 0
	t.n = 0
	return whole
}
