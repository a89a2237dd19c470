package nats

import (
	"bytes"
	"strings"

	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/redact"
)

// Fields are those of a message's header.
type Fields []struct{ name, value []byte }

// Len is how many there are.
func (f Fields) Len() int { return len(f) }

// At returns one of them.
func (f Fields) At(i int) (name, value []byte) { return f[i].name, f[i].value }

// Clone copies them out of the connection's memory.
func (f Fields) Clone() Fields {
	out := make(Fields, len(f))
	for i := range f {
		out[i].name, out[i].value = bytes.Clone(f[i].name), bytes.Clone(f[i].value)
	}
	return out
}

// readHead reads a header: a status, if it has one, with its text, and the fields.
func readHead(head []byte) (status int, text string, all Fields, err *http1.Error) {
	line, rest, found := bytes.Cut(head, []byte("\r\n"))
	behind, is := bytes.CutPrefix(line, []byte(headLine))
	if !found || !is || !bytes.HasSuffix(head, []byte("\r\n")) || len(behind) > 0 && behind[0] != ' ' {
		return 0, "", nil, errHead
	}
	if behind = bytes.TrimSpace(behind); len(behind) > 0 {
		word, description := cutWord(behind)
		var ok bool
		if status, ok = number(word); !ok || len(word) != 3 {
			return 0, "", nil, errHead
		}
		text = strings.TrimSpace(redact.Excerpt(string(description), redact.TextMost))
	}
	for len(rest) > 0 {
		line, rest, found = bytes.Cut(rest, []byte("\r\n"))
		if len(line) == 0 {
			break
		}
		name, value, colon := bytes.Cut(line, []byte(":"))
		if !found || !colon || len(name) == 0 {
			return 0, "", nil, errHead
		}
		if len(all) == fieldsMost {
			return 0, "", nil, errFields
		}
		all = append(all, struct{ name, value []byte }{name, bytes.TrimSpace(value)})
	}
	return status, text, all, nil
}
