package cosmos

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"hyperscale/runtime/outputs"
)

// documentMax bounds a document, in bytes.
const documentMax = 2 << 20

// idOf is the id of a row's document: a digest of its key, since ids take neither slashes nor more than 255 characters.
func idOf(r *outputs.Row) string {
	sum := sha256.Sum256([]byte(r.Key()))
	return hex.EncodeToString(sum[:])
}

// documentOf is a row as jsonl has it, with its id and key.
func documentOf(r *outputs.Row) []byte {
	key, _ := json.Marshal(r.Key()) // of a text it never fails
	var b bytes.Buffer
	b.WriteString(`{"id":"` + idOf(r) + `","key":`)
	b.Write(key)
	b.WriteByte(',')
	b.Write(outputs.AppendJSON(nil, r)[1:])
	return b.Bytes()
}

// partitionOf is the head that names a row's partition.
func partitionOf(r *outputs.Row) string {
	b, _ := json.Marshal([]string{r.Job}) // of texts it never fails
	return ascii(b)
}

// ascii escapes what a head cannot have, as JSON allows.
func ascii(b []byte) string {
	var out []byte
	for _, r := range string(b) {
		switch {
		case r < 0x7f:
			out = append(out, byte(r))
		case r < 0x10000:
			out = escaped(out, r)
		default:
			r -= 0x10000
			out = escaped(escaped(out, 0xd800+r>>10), 0xdc00+r&0x3ff)
		}
	}
	return string(out)
}

func escaped(to []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	return append(to, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}

// versionOf is the version of a document that is there; empty: it has none.
func versionOf(body []byte) string {
	var in struct{ Version string }
	if json.Unmarshal(body, &in) != nil {
		return ""
	}
	return in.Version
}
