package picture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hyperscale/core/node"
)

// The names match the constants of core/node/timer.go, so that a new kind does not get another
// one's name.
func TestTimersHaveTheirNames(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../../core/node/timer.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var parts []string
	var groups [][]string
	for _, d := range file.Decls {
		var names []string
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.CONST {
			for _, s := range g.Specs {
				names = append(names, s.(*ast.ValueSpec).Names[0].Name)
			}
		}
		switch {
		case len(names) == 0:
		case names[0] == "PartNone":
			parts = names
		default:
			groups = append(groups, names)
		}
	}
	inner := regexp.MustCompile("([a-z])([A-Z])")
	for _, names := range groups {
		known := false
		for p, part := range parts {
			prefix := strings.TrimPrefix(part, "Part")
			if !strings.HasPrefix(names[0], prefix) {
				continue
			}
			known = true
			var want []string
			for _, n := range names {
				want = append(want, strings.ToLower(inner.ReplaceAllString(strings.TrimPrefix(n, prefix), "$1-$2")))
			}
			if _, got := timerNames(node.Part(p)); !cmp.Equal(want, got) {
				t.Errorf("%s: got %q, want %q", part, got, want)
			}
		}
		if !known {
			t.Errorf("the kinds from %s on belong to no part", names[0])
		}
	}
}
