package mysql_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

// twin is a server in a few lines. Statements say what it answers: "select 3" three rows of its first
// argument, "update 3", "fail" an error as it runs, "broken" one as it is prepared.
type twin struct {
	t        testing.TB
	full     bool
	prepared map[uint32]string
	number   uint32
	inside   bool // a transaction
	pending  int  // rows that it has changed
	lasting  int  // rows that are changed for good
	log      []string
}

// serve answers what a client says.
func (w *twin) serve(b []byte) (out []byte) {
	for len(b) > 0 {
		n := int(b[0]) | int(b[1])<<8 | int(b[2])<<16
		body := b[4 : 4+n]
		if b[3] != 0 {
			w.t.Fatalf("a command has the number %d", b[3])
		}
		b = b[4+n:]
		text := ""
		switch body[0] {
		case 1:
			w.log = append(w.log, "quit")
			continue
		case 3:
			text = w.query(string(body[1:]), nil, false)
		case 14:
			text = "ok"
		case 22:
			text = w.prepare(string(body[1:]))
		case 23:
			query, there := w.prepared[binary.LittleEndian.Uint32(body[1:])]
			if !there {
				w.t.Fatalf("it has no statement %x", body[1:5])
			}
			text = w.query(query, w.arguments(query, body[10:]), true)
		case 25:
			number := binary.LittleEndian.Uint32(body[1:])
			if _, there := w.prepared[number]; !there {
				w.t.Fatalf("it has no statement %d to close", number)
			}
			delete(w.prepared, number)
			continue
		default:
			w.t.Fatalf("command %d", body[0])
		}
		out = append(out, answer(w.t, text, 1, 1)...)
	}
	return out
}

// ends is the packet that ends a description, if any does.
func (w *twin) ends() string {
	if w.full {
		return ";eof"
	}
	return ""
}

func (w *twin) last() string {
	if w.full {
		return ";eof"
	}
	return ";end"
}

func (w *twin) prepare(query string) string {
	if strings.HasPrefix(query, "broken") {
		return "err 1064 42000 syntax"
	}
	w.number++
	w.prepared[w.number] = query
	marks, columns := strings.Count(query, "?"), 0
	if strings.HasPrefix(query, "select") {
		columns = 1
	}
	text := fmt.Sprintf("prepared %d %d %d", w.number, columns, marks)
	if marks > 0 {
		text += strings.Repeat(";col ? 253", marks) + w.ends()
	}
	if columns > 0 {
		text += ";col a 253" + w.ends()
	}
	return text
}

// arguments reads texts: nil is NULL.
func (w *twin) arguments(query string, b []byte) (all []any) {
	n := strings.Count(query, "?")
	if n == 0 {
		return nil
	}
	nulls := b[:(n+7)/8]
	b = b[len(nulls)+1+2*n:]
	for i := range n {
		if nulls[i/8]&(1<<(i%8)) != 0 {
			all = append(all, nil)
			continue
		}
		size := int(b[0])
		all, b = append(all, string(b[1:1+size])), b[1+size:]
	}
	return all
}

func (w *twin) query(query string, args []any, typed bool) string {
	verb, rest, _ := strings.Cut(query, " ")
	n := 0
	_, _ = fmt.Sscan(rest, &n)
	switch verb {
	case "START":
		w.inside, w.pending = true, 0
		return "ok"
	case "COMMIT":
		w.lasting, w.inside = w.lasting+w.pending, false
		return "ok"
	case "ROLLBACK":
		w.inside = false
		return "ok"
	case "fail":
		return "err 1062 23000 Duplicate"
	case "broken":
		return "err 1064 42000 syntax"
	case "update":
		if w.inside {
			w.pending += n
		} else {
			w.lasting += n
		}
		return fmt.Sprintf("ok %d", n)
	case "select":
		value := any(nil)
		if len(args) > 0 {
			value = args[0]
		}
		row := ";text null"
		switch {
		case typed && value == nil:
			row = ";typed 0004"
		case typed:
			row = fmt.Sprintf(";typed 0000%02x%x", len(value.(string)), value)
		}
		return "cols 1;col a 253" + w.ends() + strings.Repeat(row, n) + w.last()
	}
	w.t.Fatalf("%q", query)
	return ""
}
