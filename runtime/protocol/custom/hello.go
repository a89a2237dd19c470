package custom

import (
	"encoding/json"
	"fmt"
	"slices"

	"hyperscale/runtime/protocol/http1"
)

// Version is that of the protocol.
const Version = 1

// Bounds of what a program says first.
const (
	NameMost     = 64 // bytes of its name
	MeasuresMost = 12
	measureMost  = 32 // bytes of a measure's name
	helloMost    = 64 << 10
)

// Hello is what a program hears first.
type Hello struct {
	Executor uint64 // the number of its executor's first virtual user
	Process  int    // among those of its client, from 0
	Seed     uint64 // of the run
	InFlight int    // calls at once, at most
}

// append appends the line.
func (h *Hello) append(b []byte) []byte {
	return fmt.Appendf(b, `{"hyperscale":%d,"executor":%d,"process":%d,"seed":%d,"in_flight":%d}`+"\n", Version, h.Executor, h.Process, h.Seed, h.InFlight)
}

// Program is what a program says of itself.
type Program struct {
	Name     string
	Measures []string // names, as its answers have them
}

// welcome reads the program's hello.
func welcome(line []byte) (Program, error) {
	var p Program
	o, ok := fields(line)
	if !ok {
		return p, breach(line, `the program's first line is no hello, such as {"hyperscale":1,"name":"legacy 2.1"}`)
	}
	version := []byte(nil)
	for key, value, ok := o.next(); ok; key, value, ok = o.next() {
		switch string(key) {
		case "hyperscale":
			version = value
		case "name":
			name, is := textOf(value)
			if !is || !printable(name, NameMost) {
				return p, breach(value, "the name of the program's hello is no text of %d bytes at most", NameMost)
			}
			p.Name = string(name)
		case "measures":
			if err := json.Unmarshal(value, &p.Measures); err != nil {
				return p, breach(value, "the measures of the program's hello are no list of names")
			}
		}
	}
	switch {
	case version == nil:
		return p, breach(line, `the program's first line is no hello, such as {"hyperscale":1,"name":"legacy 2.1"}`)
	case string(version) != "1":
		return p, &http1.Error{Kind: http1.KindProcess, Detail: fmt.Sprintf("the program speaks version %.20s of the protocol, and this hyperscale speaks %d: answer with \"hyperscale\":%d", version, Version, Version)}
	case len(p.Measures) > MeasuresMost:
		return p, breach(nil, "the program's hello has %d measures, and %d may be: leave some out", len(p.Measures), MeasuresMost)
	}
	for i, name := range p.Measures {
		if !measureName(name) || slices.Contains(p.Measures[:i], name) {
			return p, breach([]byte(name), "a measure of the program's hello is no name of its own, of a to z, 0 to 9 and _, with a letter first and %d bytes at most", measureMost)
		}
	}
	return p, nil
}

func measureName(name string) bool {
	if name == "" || len(name) > measureMost || name[0] < 'a' || name[0] > 'z' {
		return false
	}
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}
