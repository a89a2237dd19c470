package smtp

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"

	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/reply"
)

// Message is what an operation hands over.
type Message struct {
	From    reply.Argument // an address; empty: the null sender
	To      []reply.Argument
	Subject reply.Argument
	Headers []Header // in place of those that Compile makes, or beside them
	Body    reply.Argument

	Attachments []Attachment // behind the body, which then is the first part of the message

	boundary string // between the parts: see divide
}

// Header is a field of a message.
type Header struct {
	Name  string
	Value reply.Argument
}

// has reports whether a message brings a field of its own.
func (m *Message) has(name string) bool {
	return slices.ContainsFunc(m.Headers, func(h Header) bool { return strings.EqualFold(h.Name, name) })
}

// Open reports whether a value stands in the message.
func (m *Message) open() bool {
	return m.From.Open() || m.Subject.Open() || m.Body.Open() || slices.ContainsFunc(m.To, reply.Argument.Open) ||
		slices.ContainsFunc(m.Headers, func(h Header) bool { return h.Value.Open() }) || slices.ContainsFunc(m.Attachments, Attachment.open)
}

// ascii reports whether all of a text is.
func ascii[T string | []byte](text T) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// addressMost is how many bytes an address has at most: RFC 5321, 4.5.3.1.3.
const addressMost = 254

// appendAddress appends an address in its brackets. What names the argument of an error.
func appendAddress(dst []byte, a reply.Argument, values [][]byte, what string) ([]byte, *http1.Error) {
	start := len(dst) + 1
	dst = a.Fill(append(dst, '<'), values)
	if text := dst[start:]; Odd(text) || len(text) == 0 && what == "to" {
		return dst, &http1.Error{Kind: http1.KindValue, Detail: what + ": " + reply.Clip(text) + " is no address: it has ASCII without blanks, brackets and control characters, 254 at most"}
	}
	return append(dst, '>'), nil
}

// Odd reports whether a text cannot stand as an address in a command.
func Odd(b []byte) bool {
	return len(b) > addressMost || slices.ContainsFunc(b, func(c byte) bool {
		return c <= ' ' || c >= 0x7f || c == '<' || c == '>'
	})
}

// appendField appends a header with its line end.
func appendField(dst []byte, name string, value reply.Argument, values [][]byte) ([]byte, *http1.Error) {
	dst = append(append(dst, name...), ": "...)
	start := len(dst)
	dst = value.Fill(dst, values)
	text := dst[start:]
	if reply.Breaks(text) {
		return dst, &http1.Error{Kind: http1.KindValue, Detail: "the header " + name + " has a line break or a zero byte in its value"}
	}
	if !ascii(text) {
		dst = appendWords(dst[:start], string(text))
	}
	return append(dst, "\r\n"...), nil
}

// wordMost is how many bytes of UTF-8 fit into an encoded word of at most 75 letters.
const wordMost = 45

// appendWords appends a text as encoded words, each on a line of its own: RFC 2047.
func appendWords(dst []byte, text string) []byte {
	for first := true; text != ""; first = false {
		n := min(len(text), wordMost)
		for n < len(text) && n > wordMost-utf8.UTFMax && !utf8.RuneStart(text[n]) {
			n--
		}
		if !first {
			dst = append(dst, "\r\n "...)
		}
		dst = append(dst, "=?utf-8?B?"...)
		dst = append(base64.StdEncoding.AppendEncode(dst, []byte(text[:n])), "?="...)
		text = text[n:]
	}
	return dst
}

// appendHead appends the fields of a message, up to the blank line. Coded says that its body is base64.
func (m *Message) appendHead(dst []byte, values [][]byte, coded bool) ([]byte, *http1.Error) {
	var err *http1.Error
	switch {
	case m.has("From"):
	case m.From == nil: // the null sender is for what servers send themselves
		dst = append(dst, "From: <MAILER-DAEMON@hyperscale>\r\n"...)
	default:
		dst = append(m.From.Fill(append(dst, "From: <"...), values), ">\r\n"...)
	}
	if !m.has("To") {
		dst = append(dst, "To: "...)
		for i, a := range m.To {
			if i > 0 {
				dst = append(dst, ",\r\n "...)
			}
			dst = a.Fill(dst, values)
		}
		dst = append(dst, "\r\n"...)
	}
	if m.Subject != nil {
		if dst, err = appendField(dst, "Subject", m.Subject, values); err != nil {
			return dst, err
		}
	}
	for _, h := range m.Headers {
		if len(m.Attachments) > 0 && ofBody(h.Name) {
			continue
		}
		if dst, err = appendField(dst, h.Name, h.Value, values); err != nil {
			return dst, err
		}
	}
	if !m.has("MIME-Version") {
		dst = append(dst, "MIME-Version: 1.0\r\n"...)
	}
	if len(m.Attachments) > 0 {
		if dst, err = m.appendFirst(dst, values); err != nil {
			return dst, err
		}
	}
	if !m.has("Content-Type") {
		dst = append(dst, "Content-Type: text/plain; charset=utf-8\r\n"...)
	}
	switch {
	case m.has("Content-Transfer-Encoding"):
	case coded:
		dst = append(dst, "Content-Transfer-Encoding: base64\r\n"...)
	default:
		dst = append(dst, "Content-Transfer-Encoding: 7bit\r\n"...)
	}
	return append(dst, "\r\n"...), nil
}

// codes reports whether the body goes out as base64, as it is not ASCII.
func (m *Message) codes(values [][]byte) (bool, *http1.Error) {
	for _, p := range m.Body {
		if ascii(p.Text) && (p.Value < 0 || ascii(values[p.Value])) {
			continue
		}
		if m.has("Content-Transfer-Encoding") {
			return false, &http1.Error{Kind: http1.KindValue, Detail: "body: it is not ASCII, and headers have Content-Transfer-Encoding: give it encoded"}
		}
		return true, nil
	}
	return false, nil
}

// appendRest appends all but Date and Message-ID, with the end of the message. The cuts say where the files stand that
// are no part of it.
func (m *Message) appendRest(dst []byte, values [][]byte) ([]byte, []cut, *http1.Error) {
	coded, err := m.codes(values)
	if err != nil {
		return dst, nil, err
	}
	begun := len(dst)
	if dst, err = m.appendHead(dst, values, coded); err != nil {
		return dst, nil, err
	}
	body := len(dst)
	dst, l := m.appendBody(dst, values, coded)
	if len(m.Attachments) == 0 {
		return append(l.end(dst), ".\r\n"...), nil, nil
	}
	if !coded && m.Body.Open() && bytes.Contains(dst[body:], []byte(m.boundary)) {
		if m.has("Content-Transfer-Encoding") {
			return dst, nil, &http1.Error{Kind: http1.KindValue, Detail: "body: it has the boundary of this message, and headers have Content-Transfer-Encoding: give it encoded"}
		}
		if dst, err = m.appendHead(dst[:begun], values, true); err != nil {
			return dst, nil, err
		}
		dst, _ = m.appendBody(dst, values, true)
	}
	dst, cuts := m.appendAttachments(append(dst, "\r\n"...), begun, values)
	return append(dst, ".\r\n"...), cuts, nil
}

// appendBody appends the body, and returns how far its last line is.
func (m *Message) appendBody(dst []byte, values [][]byte, coded bool) ([]byte, lines) {
	l := lines{begins: true}
	if coded {
		dst = appendCoded(dst, m.Body.Fill(nil, values))
	} else {
		for _, p := range m.Body {
			if dst = appendLines(dst, &l, p.Text); p.Value >= 0 {
				dst = appendLines(dst, &l, values[p.Value])
			}
		}
	}
	return dst, l
}

// lines is how far a text is that goes out as lines.
type lines struct {
	begins bool // a line does
	cr     bool // the last byte was CR
}

// appendLines appends a text as DATA takes it: each line ends with CR LF, and a dot that begins one is doubled.
// A bare CR or LF ends a line as well, since servers disagree about it.
func appendLines[T string | []byte](dst []byte, l *lines, text T) []byte {
	for at := 0; at < len(text); {
		if text[at] == '\n' && l.cr { // of CR LF
			l.cr = false
			at++
			continue
		}
		l.cr = false
		end := at
		for end < len(text) && text[end] != '\r' && text[end] != '\n' {
			end++
		}
		if end > at {
			if l.begins && text[at] == '.' {
				dst = append(dst, '.')
			}
			dst, l.begins = append(dst, text[at:end]...), false
		}
		if end == len(text) {
			return dst
		}
		l.cr, l.begins = text[end] == '\r', true
		dst, at = append(dst, "\r\n"...), end+1
	}
	return dst
}

// end ends the last line.
func (l *lines) end(dst []byte) []byte {
	if !l.begins {
		dst = append(dst, "\r\n"...)
	}
	return dst
}
