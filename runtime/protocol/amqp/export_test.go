package amqp

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// Encode returns the frame of a method of either side, by its name and its arguments as words: a dash is an
// empty text. A table is empty, or has one text: name=value.
func Encode(name string, words []string) ([]byte, error) {
	for _, s := range shapes {
		if s.name != name {
			continue
		}
		var numbers []uint64
		var texts []string
		if len(words) != len(s.fields) {
			return nil, fmt.Errorf("%s has %d arguments, and not %d", name, len(s.fields), len(words))
		}
		for i, w := range words {
			switch s.fields[i] {
			case 'T':
				if name, value, found := strings.Cut(w, "="); found {
					w = string(appendTable(nil, []Argument{{name, value}}))
				} else {
					w = ""
				}
				fallthrough
			case 'S', 'L':
				texts = append(texts, strings.ReplaceAll(strings.TrimPrefix(w, "-"), "_", " "))
			default:
				n, err := strconv.ParseUint(w, 10, 64)
				if err != nil {
					return nil, err
				}
				numbers = append(numbers, n)
			}
		}
		return appendMethod(nil, s.of, numbers, texts...), nil
	}
	return nil, fmt.Errorf("no method is called %q", name)
}

// EncodeHeader returns the header of a message with so many bytes, and EncodeBody one of its bodies.
func EncodeHeader(size int, m Message) []byte {
	b := beginFrame(nil, frameHeader, true)
	b = binary.BigEndian.AppendUint64(append(b, 0, classBasic, 0, 0), uint64(size))
	b, _ = m.appendProperties(b, nil)
	return endFrame(b, frameHead)
}

func EncodeBody(text string) []byte {
	return endFrame(append(beginFrame(nil, frameBody, true), text...), frameHead)
}

// Shown returns a line for each frame.
func Shown(b []byte) (all []string) {
	for len(b) > 0 {
		if text, is := strings.CutPrefix(string(b), preamble); is {
			all, b = append(all, "preamble"), []byte(text)
			continue
		}
		var f frame
		n, _, err := f.cut(b, len(b))
		if err != nil || n == 0 {
			return append(all, fmt.Sprintf("part %q", b))
		}
		b = b[n:]
		line := fmt.Sprintf("%d body %q", f.channel, f.payload)
		switch f.kind {
		case frameMethod:
			var m call
			m.shape = shapeOf(method(binary.BigEndian.Uint32(f.payload)))
			whole := m.arguments.read(m.fields, f.payload[4:])
			line = fmt.Sprintf("%d %s", f.channel, m.name)
			if m.of == connectionStartOK {
				m.texts[0] = nil
			}
			numbers, texts := m.numbers[:], m.texts[:]
			for _, field := range m.fields {
				switch field {
				case 'S', 'L', 'T':
					line, texts = line+fmt.Sprintf(" %q", texts[0]), texts[1:]
				default:
					line, numbers = line+fmt.Sprintf(" %d", numbers[0]), numbers[1:]
				}
			}
			if !whole {
				line += " broken"
			}
		case frameHeader:
			size, fields, err := readContent(f.payload, reads{all: true})
			line = fmt.Sprintf("%d header %d", f.channel, size)
			for _, one := range fields {
				line += fmt.Sprintf(" %s=%s", one.name, one.value)
			}
			if err != nil {
				line += " " + err.Error()
			}
		}
		all = append(all, line)
	}
	return all
}
