package smtp

import (
	"encoding/hex"
	"path"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/reply"
)

// Attachment is a file that a message carries, as base64: RFC 2045 and 2183.
type Attachment struct {
	Name string         // of UTF-8, without control characters
	Data *Coded         // nil: Text
	Text reply.Argument // in place of Data

	head string // its fields, with the blank line: see Message.divide
}

func (a Attachment) open() bool { return a.Data == nil && a.Text.Open() }

// ofBody reports whether a field says what the body is. With attachments it stands in front of the body, as the
// message itself has several parts.
func ofBody(name string) bool {
	return strings.EqualFold(name, "Content-Type") || strings.EqualFold(name, "Content-Transfer-Encoding")
}

// kinds are the media types of names' ends. Anything else is application/octet-stream.
func kind(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".txt", ".log":
		return "text/plain; charset=utf-8"
	case ".htm", ".html":
		return "text/html; charset=utf-8"
	case ".csv":
		return "text/csv; charset=utf-8"
	case ".ics":
		return "text/calendar; charset=utf-8"
	case ".json":
		return "application/json"
	case ".xml":
		return "application/xml"
	case ".pdf":
		return "application/pdf"
	case ".zip":
		return "application/zip"
	case ".gz":
		return "application/gzip"
	case ".png":
		return "image/png"
	case ".jpg", ".jpeg":
		return "image/jpeg"
	case ".gif":
		return "image/gif"
	case ".svg":
		return "image/svg+xml"
	}
	return "application/octet-stream"
}

// appendFilename appends the parameter that names a file: RFC 2231 where the name is not ASCII.
func appendFilename(dst []byte, name string) []byte {
	if ascii(name) {
		dst = append(dst, `filename="`...)
		for i := range len(name) {
			if name[i] == '"' || name[i] == '\\' {
				dst = append(dst, '\\')
			}
			dst = append(dst, name[i])
		}
		return append(dst, '"')
	}
	dst = append(dst, "filename*=utf-8''"...)
	for i := range len(name) {
		c := name[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '-' || c == '_' {
			dst = append(dst, c)
			continue
		}
		dst = append(append(dst, '%'), strings.ToUpper(hex.EncodeToString([]byte{c}))...)
	}
	return dst
}

// divide makes what stands between the parts of a message, and what no value changes of them. The boundary is a
// digest of the names and sizes, so that the same message is the same bytes. No text of the body holds it, and
// appendRest looks for it in values. A base64 line never has it.
func (m *Message) divide() {
	digest := xxhash.New()
	for i := range m.Attachments {
		a := &m.Attachments[i]
		fields := append([]byte("Content-Type: "+kind(a.Name)+"\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: attachment; "), appendFilename(nil, a.Name)...)
		a.head = string(fields) + "\r\n\r\n"
		_, _ = digest.Write(fields) // a hash takes everything
		if !a.open() {
			if a.Data == nil {
				a.Data = Encode(a.Text.Fill(nil, nil))
			}
			_, _ = digest.Write(strconv.AppendInt(nil, int64(a.Data.size), 10))
		}
	}
	for {
		m.boundary = "hyperscale-" + hex.EncodeToString(digest.Sum(nil))
		within := false
		for _, p := range m.Body {
			within = within || strings.Contains(p.Text, m.boundary)
		}
		if !within {
			return
		}
		_, _ = digest.Write([]byte{1})
	}
}

// appendFirst ends the fields of a message with parts, and begins those of its body.
func (m *Message) appendFirst(dst []byte, values [][]byte) ([]byte, *http1.Error) {
	dst = append(append(append(dst, "Content-Type: multipart/mixed; boundary=\""...), m.boundary...), "\"\r\n\r\n--"...)
	dst = append(append(dst, m.boundary...), "\r\n"...)
	for _, h := range m.Headers {
		if !ofBody(h.Name) {
			continue
		}
		var err *http1.Error
		if dst, err = appendField(dst, h.Name, h.Value, values); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// appendAttachments appends the parts behind the body, on a line of their own. Those that are large stand in the cuts,
// whose places count from begun.
func (m *Message) appendAttachments(dst []byte, begun int, values [][]byte) (all []byte, cuts []cut) {
	room := codedPlain
	for i := range m.Attachments {
		a := &m.Attachments[i]
		dst = append(append(append(append(dst, "--"...), m.boundary...), "\r\n"...), a.head...)
		start := len(dst)
		switch {
		case a.Data == nil:
			dst = appendCoded(dst, a.Text.Fill(nil, values))
		case a.Data.size > room:
			cuts = append(cuts, cut{start - begun, a.Data})
			continue
		default:
			dst = append(dst, a.Data.whole()...)
			room -= a.Data.size
		}
		if len(dst) == start { // the line break in front of a boundary belongs to it
			dst = append(dst, "\r\n"...)
		}
	}
	return append(append(append(dst, "--"...), m.boundary...), "--\r\n"...), cuts
}
