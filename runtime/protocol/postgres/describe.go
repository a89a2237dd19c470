package postgres

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// messageName names a message of the server; empty: there is none of that kind.
func messageName(kind byte) string {
	switch kind {
	case 'R':
		return "Authentication"
	case 'S':
		return "ParameterStatus"
	case 'K':
		return "BackendKeyData"
	case 'Z':
		return "ReadyForQuery"
	case 'T':
		return "RowDescription"
	case 't':
		return "ParameterDescription"
	case 'D':
		return "DataRow"
	case 'C':
		return "CommandComplete"
	case 'E':
		return "ErrorResponse"
	case 'N':
		return "NoticeResponse"
	case 'A':
		return "NotificationResponse"
	case '1':
		return "ParseComplete"
	case '2':
		return "BindComplete"
	case '3':
		return "CloseComplete"
	case 'n':
		return "NoData"
	case 's':
		return "PortalSuspended"
	case 'I':
		return "EmptyQueryResponse"
	case 'G':
		return "CopyInResponse"
	case 'H':
		return "CopyOutResponse"
	case 'W':
		return "CopyBothResponse"
	case 'd':
		return "CopyData"
	case 'c':
		return "CopyDone"
	case 'V':
		return "FunctionCallResponse"
	case 'v':
		return "NegotiateProtocolVersion"
	}
	return ""
}

var said = map[byte]string{
	'Q': "Query", 'P': "Parse", 'B': "Bind", 'D': "Describe", 'E': "Execute", 'C': "Close", 'S': "Sync", 'X': "Terminate", 'p': "PasswordMessage", 'd': "CopyData", 'c': "CopyDone",
}

const describedMost = 4 << 10 // bytes of a text

// Describe appends the whole messages of bytes that go out, or came in, a semicolon between them:
// their names, the texts of statements, and of a password stars.
func Describe(dst, b []byte, out bool) []byte {
	for first := true; len(b) > 0; first = false {
		kind, head := b[0], headLength
		if out && kind == 0 {
			kind, head = 0, 4
		}
		if len(b) < head {
			return dst
		}
		length := int64(binary.BigEndian.Uint32(b[head-4:])) - 4
		if length < 0 || length > int64(len(b)-head) {
			return dst
		}
		body := b[head : head+int(length)]
		b = b[head+int(length):]
		if !first {
			dst = append(dst, "; "...)
		}
		dst = describeOne(dst, kind, body, out)
	}
	return dst
}

func describeOne(dst []byte, kind byte, body []byte, out bool) []byte {
	text := func(b []byte) []byte { return b[:min(len(b), describedMost)] }
	name := messageName(kind)
	if out {
		name = said[kind]
	}
	switch {
	case out && kind == 0 && len(body) == 4:
		return append(dst, "SSLRequest"...)
	case out && kind == 0:
		return fmt.Appendf(dst, "StartupMessage %q", text(bytes.TrimRight(body[min(4, len(body)):], "\x00")))
	case out && kind == 'p':
		return append(dst, "PasswordMessage ***"...)
	case out && kind == 'Q':
		return fmt.Appendf(dst, "Query %q", text(bytes.TrimRight(body, "\x00")))
	case out && kind == 'P':
		statement, rest, _ := bytes.Cut(body, []byte{0})
		query, _, _ := bytes.Cut(rest, []byte{0})
		return fmt.Appendf(dst, "Parse %s %q", statement, text(query))
	case !out && kind == 'E':
		if t, err := readError(body); err == nil {
			return fmt.Appendf(dst, "ErrorResponse %s %s %q", t.severity, t.code, t.message)
		}
	case !out && kind == 'C':
		return fmt.Appendf(dst, "CommandComplete %q", text(bytes.TrimRight(body, "\x00")))
	}
	return append(dst, name...)
}
