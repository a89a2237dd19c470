package extract

import (
	"bytes"
	"html"
)

// inputValue finds the value of the first <input> with that name in untrusted HTML. Comments,
// scripts, styles and text areas contain no inputs.
func inputValue(b []byte, name string) ([]byte, bool) {
	for i := 0; ; {
		k := bytes.IndexByte(b[i:], '<')
		if k < 0 {
			return nil, false
		}
		if i += k + 1; bytes.HasPrefix(b[i:], []byte("!--")) {
			if k = bytes.Index(b[i:], []byte("-->")); k < 0 {
				return nil, false
			}
			i += k
			continue
		}
		from := i
		for i < len(b) && (low(b[i]) >= 'a' && low(b[i]) <= 'z' || i > from && b[i] >= '0' && b[i] <= '9') {
			i++
		}
		tag := b[from:i]
		if len(tag) == 0 {
			continue
		}
		t := tagged{b: b, at: i}
		value, ok := t.input(name)
		switch i = t.at; {
		case equalFold(tag, "input"):
			if ok {
				return value, true
			}
		case isRaw(tag):
			i = endOfRaw(b, i, tag)
		}
	}
}

// isRaw reports elements in which < begins no tag.
func isRaw(tag []byte) bool {
	for _, raw := range []string{"script", "style", "textarea", "title", "xmp", "noscript"} {
		if equalFold(tag, raw) {
			return true
		}
	}
	return false
}

// endOfRaw returns where </tag begins.
func endOfRaw(b []byte, i int, tag []byte) int {
	for {
		k := bytes.Index(b[i:], []byte("</"))
		if k < 0 {
			return len(b)
		}
		if i += k + 2; len(b)-i >= len(tag) && bytes.EqualFold(b[i:i+len(tag)], tag) {
			return i
		}
	}
}

// tagged reads the attributes of one tag.
type tagged struct {
	b  []byte
	at int
}

// input reads to the end of the tag, and returns its value if it has that name.
func (t *tagged) input(want string) (value []byte, ok bool) {
	var named, hasName, hasValue bool
	for {
		key, v, more := t.attribute()
		if !more {
			return plain(value), named && hasValue
		}
		switch {
		case equalFold(key, "name") && !hasName:
			named, hasName = string(plain(v)) == want, true
		case equalFold(key, "value") && !hasValue:
			value, hasValue = v, true
		}
	}
}

// attribute reads the next attribute; more is false at the end of the tag.
func (t *tagged) attribute() (key, value []byte, more bool) {
	for t.at < len(t.b) && (isBlank(t.b[t.at]) || t.b[t.at] == '/') {
		t.at++
	}
	if t.at == len(t.b) {
		return nil, nil, false
	}
	if t.b[t.at] == '>' {
		t.at++
		return nil, nil, false
	}
	from := t.at
	for t.at++; t.at < len(t.b) && !isBlank(t.b[t.at]) && bytes.IndexByte([]byte("/>="), t.b[t.at]) < 0; {
		t.at++
	}
	key = t.b[from:t.at]
	for t.at < len(t.b) && isBlank(t.b[t.at]) {
		t.at++
	}
	if t.at == len(t.b) || t.b[t.at] != '=' {
		return key, nil, true
	}
	for t.at++; t.at < len(t.b) && isBlank(t.b[t.at]); {
		t.at++
	}
	if t.at == len(t.b) {
		return key, nil, true
	}
	if quote := t.b[t.at]; quote == '"' || quote == '\'' {
		t.at++
		end := bytes.IndexByte(t.b[t.at:], quote)
		if end < 0 {
			t.at = len(t.b)
			return key, nil, false // the page ends within it
		}
		value = t.b[t.at : t.at+end]
		t.at += end + 1
		return key, value, true
	}
	from = t.at
	for t.at < len(t.b) && !isBlank(t.b[t.at]) && t.b[t.at] != '>' {
		t.at++
	}
	return key, t.b[from:t.at], true
}

func isBlank(c byte) bool {
	return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f'
}

// plain decodes &amp; and its like, which are rare.
func plain(v []byte) []byte {
	if bytes.IndexByte(v, '&') < 0 {
		return v
	}
	return []byte(html.UnescapeString(string(v)))
}
