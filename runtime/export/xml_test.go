package export

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/runtime/report"
	"hyperscale/runtime/report/reporttest"
)

// leaves are the values of a document by their path. An empty list or group is a leaf without text.
type leaves map[string]string

// readXML reads a document with the decoder of the standard library.
func readXML(t interface{ Fatalf(string, ...any) }, b []byte) leaves {
	all := leaves{}
	var path []string
	counts := []int{0}
	text, leaf := "", false
	for d := xml.NewDecoder(bytes.NewReader(b)); ; {
		token, err := d.Token()
		if err == io.EOF {
			return all
		} else if err != nil {
			t.Fatalf("%v in:\n%s", err, b)
		}
		switch one := token.(type) {
		case xml.StartElement:
			name := one.Name.Local
			switch {
			case name == "item":
				name = fmt.Sprint(counts[len(counts)-1])
			case name == "entry":
				name = one.Attr[0].Value
			}
			counts[len(counts)-1]++
			path, counts, text, leaf = append(path, name), append(counts, 0), "", true
		case xml.CharData:
			text += string(one)
		case xml.EndElement:
			if leaf {
				all[strings.Join(path[1:], " > ")] = text
			}
			path, counts, text, leaf = path[:len(path)-1], counts[:len(counts)-1], "", false
		}
	}
}

// readJSON reads the same of a result file.
func readJSON(t interface{ Fatalf(string, ...any) }, r *report.Result) leaves {
	b, err := r.Encode()
	if err != nil {
		t.Fatalf("%v", err)
	}
	var whole any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&whole); err != nil {
		t.Fatalf("%v", err)
	}
	all := leaves{}
	var walk func(v any, path []string)
	walk = func(v any, path []string) {
		at := strings.Join(path, " > ")
		switch one := v.(type) {
		case map[string]any:
			for name, part := range one {
				walk(part, append(path[:len(path):len(path)], allowed(name)))
			}
			if len(one) == 0 {
				all[at] = ""
			}
		case []any:
			for i, part := range one {
				walk(part, append(path[:len(path):len(path)], fmt.Sprint(i)))
			}
			if len(one) == 0 {
				all[at] = ""
			}
		case nil:
			all[at] = ""
		default:
			all[at] = allowed(fmt.Sprint(one))
		}
	}
	walk(whole, nil)
	return all
}

// allowed replaces what XML 1.0 cannot hold, by its production of Char.
func allowed(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t', r == '\n', r == '\r', r >= 0x20 && r <= 0xD7FF, r >= 0xE000 && r <= 0xFFFD, r >= 0x10000 && r <= utf8.MaxRune:
			return r
		}
		return '\uFFFD'
	}, s)
}

func TestXML(t *testing.T) {
	r := result(t)
	r.Run = &report.Run{Command: []string{"run", "a b"}, Seed: 1<<64 - 1, Files: []report.SourceFile{{Name: "shop.star", Text: "def f():\r\n\tpass\n"}}}
	b, err := XML(r)
	if err != nil {
		t.Fatal(err)
	}
	reporttest.Golden(t, "testdata/whole.xml", string(b))
	if d := cmp.Diff(readJSON(t, r), readXML(t, b)); d != "" {
		t.Error(d)
	}
	lint(t, b)
}

// EXPORT-2: whatever a name is, the document says what the result file says, but for characters that XML cannot hold.
func TestXMLHoldsAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Just(hostile), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "text")
		r := &report.Result{Name: text, Error: text, Datacenters: map[string]report.Datacenter{text: {Outcome: text}, "b": {}}, Workflows: []report.Workflow{{
			Name: text, Steps: []report.Step{{Name: text, Tags: map[string]string{text: text}}},
			Checks: []report.Check{{Name: text, Failed: 1, Errors: []report.Error{{Kind: text, Example: text, Count: 1}}}},
		}}}
		b, err := XML(r)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(readJSON(t, r), readXML(t, b)); d != "" {
			t.Fatal(d)
		}
	})
}

func TestXMLOfNothing(t *testing.T) {
	r := result(t, func(m *message.Result) { m.Workflows, m.Datacenters = nil, nil })
	b, err := XML(r)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(readJSON(t, r), readXML(t, b)); d != "" {
		t.Error(d)
	}
	lint(t, b)
}
