package manual_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/docs"
	"hyperscale/runtime/edit/manual"
)

var python = regexp.MustCompile("(?s)```python\n(.*?)```")

// The manual explains every word of the language: its meaning, and each named argument outside
// of the signature. Its example is a whole file that loads.
func TestEveryWord(t *testing.T) {
	m := manual.New(docs.Workflows, workflow.Words())
	loaded := map[string]error{}
	proto, err := os.ReadFile("../../../examples/shop.proto")
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range workflow.Words() {
		page, ok := m.Find(w.Name)
		if !ok {
			t.Errorf("%s is not found", w.Name)
			continue
		}
		brief := m.Brief(w)
		_, meaning, _ := strings.Cut(brief, "\n```\n")
		if w.Function && strings.TrimSpace(meaning) == "" {
			t.Errorf("docs/workflows.md explains no %s: add a row or a paragraph with `%s(`", w.Name, w.Name)
		}
		_, rest, _ := strings.Cut(page, "\n```\n")
		blocks := python.FindAllStringSubmatch(page, -1)
		if len(blocks) > 1 {
			code := blocks[1][1]
			rest = strings.ReplaceAll(rest, code, "")
			if _, seen := loaded[code]; !seen {
				_, err := workflow.Load(message.Program{Main: "test.star", Files: []message.File{{Name: "test.star", Data: []byte(code)}, {Name: "video.mp4"}, {Name: "uploads/a.jpg"}, {Name: "shop.proto", Data: proto}}})
				loaded[code] = err
				if err != nil {
					t.Errorf("the example of %s does not load: %v\n%s", w.Name, err, code)
				}
			}
		}
		for i, a := range w.Arguments {
			if i >= w.Positional && !regexp.MustCompile(`\b`+a+`\b`).MatchString(rest) {
				t.Errorf("docs/workflows.md does not tell the argument %s of %s: add a row to a table with the heading `%s(...)`", a, w.Name, w.Name)
			}
		}
	}
	if len(loaded) < 10 {
		t.Errorf("only %d examples", len(loaded))
	}
}

// TestPatternsStandInText: code stands in a terminal as it is, without its marks.
func TestPatternsStandInText(t *testing.T) {
	page, _ := manual.New(docs.Workflows, workflow.Words()).Find("file.glob")
	if got := manual.Text(page, 80); !strings.Contains(got, "file.glob(\"uploads/**\"), file.glob(\"uploads/**/*.jpg\")") || strings.Contains(got, "`") {
		t.Errorf("got\n%s", got)
	}
}

func TestFind(t *testing.T) {
	m := manual.New(docs.Workflows, workflow.Words())
	tests := []struct{ name, want string }{
		{"thresholds", "compare. A step's name"},
		{"threshold", "compare. A step's name"},
		{"durations", `"1m30s"`},
		{"size", "KiB"},
		{"the client", "`keep_alive`"},
		{"client", "`keep_alive`"},
		{"http/2", "GOAWAY"},
		{"vus", "An argument of `workflow`"},
		{"http", "- `http.client`"},
		{"vu.http.post", "`redirects`"},
		{"sha512", "in hex"},
		{"regex.match", "RE2"},
		{"math.floor", "pkg.go.dev"},
		{"file.glob", "any number of folders"},
		{"before-and-after", "vu_teardown"},
	}
	for _, test := range tests {
		if page, ok := m.Find(test.name); !ok || !strings.Contains(page, test.want) {
			t.Errorf("%s: got\n%s\nwant %s", test.name, page, test.want)
		}
	}
	if _, ok := m.Find("nothing"); ok {
		t.Error("found nothing")
	}
	for _, topic := range append(m.Topics(), m.Names()...) {
		if _, ok := m.Find(topic); !ok {
			t.Errorf("%q is listed and not found", topic)
		}
	}
}

// No line is longer than the terminal, except code.
func TestText(t *testing.T) {
	m := manual.New(docs.Workflows, workflow.Words())
	for _, name := range m.Names() {
		page, _ := m.Find(name)
		text := manual.Text(page, 60)
		for line := range strings.Lines(text) {
			line = strings.TrimRight(line, "\n")
			long := !strings.HasPrefix(line, "    ") && len(strings.Fields(line)) > 1
			if long && utf8.RuneCountInString(line) > 60 {
				t.Errorf("%s: %q", name, line)
			}
		}
		if slices.Contains([]string{"step", "tls"}, name) && strings.Contains(text, "`") {
			t.Errorf("%s has marks in it:\n%s", name, text)
		}
	}
}
