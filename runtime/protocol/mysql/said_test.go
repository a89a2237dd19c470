package mysql_test

import (
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"
	"testing"
)

// answer writes the server's packets of one command, which a semicolon parts. They count from number,
// by step: 1 in answers, 2 in a greeting, where the client speaks between.
//
//	ok [AFFECTED] [more]     eof [more]     end [more]      prepared NUMBER COLUMNS PARAMS
//	err NUMBER STATE TEXT    cols N         col NAME TYPE [unsigned|binary|decimals=N]
//	text VALUE...            typed HEX      row "PAYLOAD"   of a text row: null is NULL
//	hello [PLUGIN] [can=HEX] switch PLUGIN  auth HEX
//	packet "PAYLOAD"         raw "BYTES"    #N: the next packet has that number
func answer(t testing.TB, text string, number, step byte) (out []byte) {
	t.Helper()
	for _, one := range strings.Split(text, ";") {
		one = strings.TrimSpace(one)
		word, rest, _ := strings.Cut(one, " ")
		switch {
		case word == "":
			continue
		case word[0] == '#':
			n, err := strconv.Atoi(word[1:])
			if err != nil {
				t.Fatal(err)
			}
			number = byte(n)
			continue
		case word == "raw":
			out = append(out, unquote(t, rest)...)
			continue
		}
		for body := payload(t, word, rest); ; number += step {
			n := min(len(body), 1<<24-1)
			out = append(out, byte(n), byte(n>>8), byte(n>>16), number)
			out = append(out, body[:n]...)
			if body = body[n:]; n < 1<<24-1 {
				break
			}
		}
		number += step
	}
	return out
}

func unquote(t testing.TB, text string) []byte {
	t.Helper()
	times := 1
	if text, n, found := strings.Cut(text, " * "); found {
		times, _ = strconv.Atoi(n)
		return []byte(strings.Repeat(string(unquote(t, text)), times))
	}
	b, err := strconv.Unquote(text)
	if err != nil {
		t.Fatal(text, err)
	}
	return []byte(b)
}

func number(t testing.TB, text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(text, err)
	}
	return n
}

// long appends a text behind its length.
func long(b []byte, text string) []byte {
	switch n := len(text); {
	case n < 251:
		b = append(b, byte(n))
	case n < 1<<24:
		b = append(b, 0xfd, byte(n), byte(n>>8), byte(n>>16))
	default:
		b = binary.LittleEndian.AppendUint64(append(b, 0xfe), uint64(n))
	}
	return append(b, text...)
}

const salt = "0123456789abcdefghij"

func payload(t testing.TB, word, rest string) (b []byte) {
	t.Helper()
	args := strings.Fields(rest)
	more := byte(0)
	if len(args) > 0 && args[len(args)-1] == "more" {
		more, args = 8, args[:len(args)-1]
	}
	arg := func(i int) int { return number(t, args[i]) }
	switch word {
	case "packet", "row":
		return unquote(t, rest)
	case "ok", "end":
		affected := byte(0)
		if len(args) > 0 {
			affected = byte(arg(0))
		}
		return []byte{map[string]byte{"ok": 0, "end": 0xfe}[word], affected, 0, 2 | more, 0, 0, 0}
	case "eof":
		return []byte{0xfe, 0, 0, 2 | more, 0}
	case "prepared":
		b = binary.LittleEndian.AppendUint32([]byte{0}, uint32(arg(0)))
		b = binary.LittleEndian.AppendUint16(b, uint16(arg(1)))
		b = binary.LittleEndian.AppendUint16(b, uint16(arg(2)))
		return append(b, 0, 0, 0)
	case "err":
		b = binary.LittleEndian.AppendUint16([]byte{0xff}, uint16(arg(0)))
		if args[1] != "-" {
			b = append(append(b, '#'), args[1]...)
		}
		return append(b, strings.Join(args[2:], " ")...)
	case "cols":
		if n := arg(0); n > 250 {
			return append(b, 0xfc, byte(n), byte(n>>8))
		}
		return append(b, byte(arg(0)))
	case "col":
		charset, flags, decimals := byte(45), byte(0), byte(31)
		for _, a := range args[2:] {
			switch key, value, _ := strings.Cut(a, "="); key {
			case "unsigned":
				flags = 1 << 5
			case "binary":
				charset = 63
			case "decimals":
				decimals = byte(number(t, value))
			}
		}
		for _, text := range []string{"def", "shop", "t", "t", args[0], args[0]} {
			b = long(b, text)
		}
		return append(b, 12, charset, 0, 0, 0, 0, 0, byte(arg(1)), flags, 0, decimals, 0, 0)
	case "text":
		for _, a := range args {
			if a == "null" {
				b = append(b, 0xfb)
				continue
			}
			b = long(b, a)
		}
		return b
	case "typed", "auth":
		b, err := hex.DecodeString(strings.Join(args, ""))
		if err != nil {
			t.Fatal(err)
		}
		if word == "auth" {
			b = append([]byte{1}, b...)
		}
		return b
	case "hello":
		can := uint64(0x01ffffff)
		plugin := ""
		for _, a := range args {
			if key, value, found := strings.Cut(a, "="); found && key == "can" {
				can, _ = strconv.ParseUint(value, 16, 32)
				continue
			}
			plugin = a
		}
		b = append([]byte{10}, "10.11.6-twin\x00\x07\x00\x00\x00"+salt[:8]+"\x00"...)
		b = append(b, byte(can), byte(can>>8), 45, 2, 0, byte(can>>16), byte(can>>24), 21)
		b = append(append(append(b, make([]byte, 10)...), salt[8:]...), 0)
		if plugin != "" {
			b = append(append(b, plugin...), 0)
		}
		return b
	case "switch":
		return append(append(append([]byte{0xfe}, args[0]...), 0), salt+"\x00"...)
	}
	t.Fatalf("no packet is called %q", word)
	return nil
}
