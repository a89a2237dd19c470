package postgres_test

import (
	"encoding/binary"
	"strconv"
	"strings"
	"testing"
)

// message makes a message of the server.
func message(kind byte, body string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{kind}, uint32(4+len(body))), body...)
}

// wire is the server's message that words tell.
func wire(t testing.TB, text string) []byte {
	words := strings.Fields(text)
	number := func(s string) int {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		return n
	}
	body := ""
	two := func(n int) { body += string(binary.BigEndian.AppendUint16(nil, uint16(n))) }
	four := func(n int) { body += string(binary.BigEndian.AppendUint32(nil, uint32(n))) }
	rest := strings.TrimSpace(strings.TrimPrefix(text, words[0]))
	switch words[0] {
	case "raw":
		said, err := strconv.Unquote(rest)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		return []byte(said)
	case "auth":
		four(number(words[1]))
		said, err := strconv.Unquote(`"` + strings.Join(words[2:], " ") + `"`)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		return message('R', body+said)
	case "T":
		two(len(words) - 1)
		for _, w := range words[1:] {
			name, oid, _ := strings.Cut(w, ":")
			body += name + "\x00"
			four(0)
			two(0)
			four(number(oid))
			two(4)
			four(-1)
			two(0)
		}
	case "D":
		two(len(words) - 1)
		for _, w := range words[1:] {
			if w == "null" {
				four(-1)
				continue
			}
			if w == "''" {
				w = ""
			}
			said, err := strconv.Unquote(`"` + strings.ReplaceAll(w, `"`, `\"`) + `"`)
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			four(len(said))
			body += said
		}
	case "C":
		body = rest + "\x00"
	case "S":
		body = words[1] + "\x00" + words[2] + "\x00"
	case "E", "N":
		message, detail, found := strings.Cut(strings.Join(words[3:], " "), " // ")
		body = "S" + words[1] + "\x00V" + words[1] + "\x00C" + words[2] + "\x00M" + message + "\x00"
		if found {
			body += "D" + detail + "\x00"
		}
		body += "\x00"
	case "K":
		body = "12345678"
	case "Z":
		body = words[1]
	case "A":
		body = "\x00\x00\x00\x01channel\x00\x00"
	case "d":
		said, err := strconv.Unquote(`"` + rest + `"`)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		body = said
	case "1", "2", "3", "n", "I", "s", "c":
	case "G", "H":
		body = "\x00\x00\x00"
	default:
		t.Fatalf("no message is called %q", words[0])
	}
	return message(words[0][0], body)
}

// wires are messages that semicolons part.
func wires(t testing.TB, text string) (b []byte) {
	for _, one := range strings.Split(text, ";") {
		b = append(b, wire(t, strings.TrimSpace(one))...)
	}
	return b
}
