package scenarios_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hyperscale/scenarios"
)

// reachedIn collects the rare states that a source file reports: the text of an event.Reached,
// or the last argument of a helper named reached.
func reachedIn(t *testing.T, path string, into map[string]bool) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	take := func(e ast.Expr) {
		if l, ok := e.(*ast.BasicLit); ok && l.Kind == token.STRING {
			text, err := strconv.Unquote(l.Value)
			if err != nil {
				t.Fatal(err)
			}
			into[text] = true
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			if s, ok := n.Type.(*ast.SelectorExpr); ok && s.Sel.Name == "Reached" && len(n.Elts) == 1 {
				if kv, ok := n.Elts[0].(*ast.KeyValueExpr); ok {
					take(kv.Value)
				}
			}
		case *ast.CallExpr:
			name := ""
			switch f := n.Fun.(type) {
			case *ast.Ident:
				name = f.Name
			case *ast.SelectorExpr:
				name = f.Sel.Name
			}
			if strings.EqualFold(name, "reached") && len(n.Args) > 0 {
				take(n.Args[len(n.Args)-1])
			}
		}
		return true
	})
}

// Each world has a name of its own: seeds, schedules and planted bugs name their world.
func TestWorldsHaveNamesOfTheirOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range scenarios.All() {
		if seen[s.Name] {
			t.Errorf("two worlds are called %s", s.Name)
		}
		seen[s.Name] = true
	}
}

// The list of rare states contains exactly those that machines can report.
func TestRareStatesAreListed(t *testing.T) {
	found := map[string]bool{}
	for _, dir := range []string{"../core", "."} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
				reachedIn(t, path, found)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	want := strings.Join(slices.Sorted(maps.Keys(found)), "\n") + "\n"
	if os.Getenv("REWRITE") != "" {
		if err := os.WriteFile("states.txt", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("states.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("-told by machines +listed (`go generate ./scenarios` writes the list):\n%s", diff)
	}
}
