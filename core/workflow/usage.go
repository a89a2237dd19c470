package workflow

import "go.starlark.net/syntax"

// usage says what the files of a program may read of responses, judged by their text: names
// after a dot. A false yes costs memory, a false no would lose something.
type usage struct{ heads, bodies bool }

// look adds what a file reads.
func (r *usage) look(file *syntax.File) {
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.DotExpr:
			switch n.Name.Name {
			case "headers":
				r.heads = true
			case "body", "text", "json":
				r.bodies = true
			}
		case *syntax.Ident:
			if n.Name == "getattr" { // the name may be computed
				r.heads, r.bodies = true, true
			}
		}
		return true
	})
}
