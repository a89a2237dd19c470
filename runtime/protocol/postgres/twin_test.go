package postgres_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// twin is a server in a few lines. Statements say what it answers: "select 3" three rows of its first
// argument, "update 3", "fail" an error as it runs, "broken" one as it is parsed.
type twin struct {
	t        testing.TB
	prepared map[string]string
	bound    string // the statement
	args     []any  // of it: string or nil
	skips    bool   // behind an error, until a Sync
	parses   int
}

// serve answers what a client says.
func (w *twin) serve(b []byte) (out []byte) {
	for len(b) > 0 {
		kind, length := b[0], int(binary.BigEndian.Uint32(b[1:]))
		body := b[5 : 1+length]
		b = b[1+length:]
		if kind == 'S' {
			out, w.skips = append(out, wire(w.t, "Z I")...), false
			continue
		}
		if w.skips {
			continue
		}
		answer := ""
		cut := func() (text string) {
			head, rest, _ := bytes.Cut(body, []byte{0})
			body = rest
			return string(head)
		}
		switch kind {
		case 'Q':
			query := cut()
			w.args = nil
			for _, one := range strings.Split(query, "\n;\n") {
				answer = w.run(one, true)
				out = append(out, wires(w.t, answer)...)
				if strings.HasPrefix(answer, "E") {
					break
				}
			}
			out = append(out, wire(w.t, "Z I")...)
			continue
		case 'P':
			name, query := cut(), cut()
			w.parses++
			switch _, there := w.prepared[name]; {
			case there && name != "":
				answer = "E ERROR 42P05 exists"
			case query == "broken":
				answer = "E ERROR 42601 syntax"
			default:
				w.prepared[name] = query
				answer = "1"
			}
		case 'C':
			delete(w.prepared, string(body[1:len(body)-1]))
			answer = "3"
		case 'B':
			portal, name := cut(), cut()
			query, there := w.prepared[name]
			if portal != "" || binary.BigEndian.Uint16(body) != 0 {
				w.t.Fatalf("Bind has portal %q and formats", portal)
			}
			n := int(binary.BigEndian.Uint16(body[2:]))
			body = body[4:]
			w.args = nil
			for range n {
				size := int32(binary.BigEndian.Uint32(body))
				if body = body[4:]; size < 0 {
					w.args = append(w.args, nil)
					continue
				}
				w.args = append(w.args, string(body[:size]))
				body = body[size:]
			}
			if string(body) != "\x00\x00" {
				w.t.Fatalf("Bind ends with %q", body)
			}
			w.bound, answer = query, "2"
			if !there {
				answer = "E ERROR 26000 none"
			}
		case 'D':
			if answer = "n"; strings.HasPrefix(w.bound, "select") {
				answer = "T a:25"
			}
		case 'E':
			answer = w.run(w.bound, false)
		default:
			w.t.Fatalf("the client says %q", kind)
		}
		w.skips = strings.HasPrefix(answer, "E ")
		out = append(out, wires(w.t, answer)...)
	}
	return out
}

func (w *twin) run(query string, described bool) string {
	verb, rest, _ := strings.Cut(query, " ")
	digits, _, _ := strings.Cut(rest, " ")
	n, _ := strconv.Atoi(digits)
	switch verb {
	case "select":
		value := "null"
		if len(w.args) > 0 && w.args[0] != nil {
			if value = w.args[0].(string); value == "" {
				value = "''"
			}
		}
		all := strings.Repeat("D "+value+";", n) + fmt.Sprintf("C SELECT %d", n)
		if described {
			all = "T a:25;" + all
		}
		return all
	case "update":
		return fmt.Sprintf("C UPDATE %d", n)
	case "broken":
		return "E ERROR 42601 syntax"
	}
	return "E ERROR 22012 fails"
}
