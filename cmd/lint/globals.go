package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

var errorInterface = types.Universe.Lookup("error").Type().Underlying().(*types.Interface)

// checkGlobals keeps state out of core's packages: two nodes of one simulation
// share the process, so a variable of a package would be a hidden wire.
func checkGlobals(f *file) []complaint {
	if !strings.HasPrefix(f.pkg, "core/") || f.generated {
		return nil
	}
	var found []complaint
	for _, decl := range f.syntax.Decls {
		vars, ok := decl.(*ast.GenDecl)
		if !ok || vars.Tok != token.VAR {
			continue
		}
		for _, spec := range vars.Specs {
			spec := spec.(*ast.ValueSpec)
			if f.test && (isEmbedded(vars.Doc) || isEmbedded(spec.Doc)) {
				continue
			}
			for _, name := range spec.Names {
				if name.Name == "_" || isError(f.info, name) {
					continue
				}
				found = append(found, f.at(name.Pos(), fmt.Sprintf("package-level variable %s in core", name.Name),
					"make it a constant, a field of Config or the machine, or a function that returns the value"))
			}
		}
	}
	return found
}

func isEmbedded(doc *ast.CommentGroup) bool {
	if doc == nil {
		return false
	}
	for _, comment := range doc.List {
		if strings.HasPrefix(comment.Text, "//go:embed ") {
			return true
		}
	}
	return false
}

func isError(info *types.Info, name *ast.Ident) bool {
	object := info.Defs[name]
	return object != nil && types.Implements(object.Type(), errorInterface)
}
