package language_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/runtime/edit/format"
)

var (
	choice  = regexp.MustCompile(`\$\{\d+\|([^,|}]*)[^}]*\}`)
	blank   = regexp.MustCompile(`\$\{\d+:((?:\\.|[^}\\])*)\}`)
	cursor  = regexp.MustCompile(`\$\d+`)
	escaped = regexp.MustCompile(`\\([$}\\])`)
)

// expand is what an editor writes for a snippet whose blanks are left as they are.
func expand(body string) string {
	body = choice.ReplaceAllString(body, "$1")
	body = blank.ReplaceAllString(body, "$1")
	body = cursor.ReplaceAllString(body, "") // $.token is none: it has no number
	return escaped.ReplaceAllString(body, "$1")
}

// Every snippet of VS Code is, expanded, a file that loads, or a step of one; and is in
// the one style.
func TestSnippets(t *testing.T) {
	data, err := os.ReadFile("../../../docs/editors/vscode/hyperscale.code-snippets")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]struct {
		Prefix, Description, Scope string
		Body                       []string
	}
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	if len(all) < 8 {
		t.Errorf("only %d snippets", len(all))
	}
	for name, s := range all {
		t.Run(name, func(t *testing.T) {
			if s.Prefix == "" || s.Description == "" || s.Scope == "" {
				t.Error("no prefix, description or scope")
			}
			text := expand(strings.Join(s.Body, "\n")) + "\n"
			if !strings.Contains(text, "workflow(") {
				text = "workflow(\n    name = \"w\",\n    steps = [\n        step(\"login\", http.get(\"http://h/\")),\n        " + text + "    ],\n)\n"
			}
			if _, err := workflow.Load(message.Program{Main: "w.star", Files: []message.File{{Name: "w.star", Data: []byte(text)}}}); err != nil {
				t.Errorf("%v\n%s", err, text)
			}
			if out, err := format.File("w.star", []byte(text)); err != nil || string(out) != text {
				t.Errorf("is not in the style (%v):\n%s\nshould be\n%s", err, text, out)
			}
		})
	}
}
