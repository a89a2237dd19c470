package mysql

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

const describedMost = 4 << 10 // bytes of a text

// Describe appends the whole packets of bytes that go out, or came in, a semicolon between them:
// their names and the texts of statements. Greets says that they belong to a greeting: then what goes
// out has proofs in it, and stars stand for them.
func Describe(dst, b []byte, out, greets bool) []byte {
	for first := true; len(b) >= headLength; first = false {
		length := int(b[0]) | int(b[1])<<8 | int(b[2])<<16
		if length > len(b)-headLength {
			return dst
		}
		body := b[headLength : headLength+length]
		number := b[3]
		b = b[headLength+length:]
		if !first {
			dst = append(dst, "; "...)
		}
		switch {
		case out && greets:
			dst = describeProof(dst, number, body)
		case out:
			dst = describeCommand(dst, body)
		case greets && number == 0 && len(body) > 1 && body[0] == version10:
			version, _, _ := bytes.Cut(body[1:], []byte{0})
			dst = fmt.Appendf(dst, "Handshake %.80q", version)
		default:
			dst = describeAnswer(dst, body)
		}
	}
	return dst
}

func describeProof(dst []byte, number byte, body []byte) []byte {
	const user = 32 // where it stands
	if len(body) == user {
		return append(dst, "SSLRequest"...)
	}
	if number <= 2 && len(body) > user+1 {
		name, _, _ := bytes.Cut(body[user:], []byte{0})
		return fmt.Appendf(dst, "HandshakeResponse user %.80q ***", name)
	}
	return append(dst, "AuthResponse ***"...)
}

func describeCommand(dst, body []byte) []byte {
	if len(body) == 0 {
		return append(dst, "empty"...)
	}
	text := body[1:min(len(body), 1+describedMost)]
	number := uint32(0)
	if len(body) >= 5 {
		number = binary.LittleEndian.Uint32(body[1:])
	}
	switch body[0] {
	case commandQuit:
		return append(dst, "COM_QUIT"...)
	case commandQuery:
		return fmt.Appendf(dst, "COM_QUERY %q", text)
	case commandPing:
		return append(dst, "COM_PING"...)
	case commandPrepare:
		return fmt.Appendf(dst, "COM_STMT_PREPARE %q", text)
	case commandExecute:
		return fmt.Appendf(dst, "COM_STMT_EXECUTE %d", number)
	case commandClose:
		return fmt.Appendf(dst, "COM_STMT_CLOSE %d", number)
	}
	return fmt.Appendf(dst, "command %d", body[0])
}

func describeAnswer(dst, body []byte) []byte {
	if len(body) == 0 {
		return append(dst, "empty"...)
	}
	switch body[0] {
	case headError:
		if t, err := readError(body); err == nil {
			return fmt.Appendf(dst, "ERR %d %s %q", t.number, t.state, t.message)
		}
	case headOK:
		if e, ok := readOK(body[1:]); ok && len(body) < 80 {
			return fmt.Appendf(dst, "OK %d affected", e.affected)
		}
	case headEnd:
		if len(body) < 9 {
			return append(dst, "EOF"...)
		}
	}
	return fmt.Appendf(dst, "packet of %d bytes", len(body))
}
