package main

import (
	"fmt"
	"go/ast"
)

const (
	fileLines     = 600 // 250 is usual, 400 asks for a split
	functionLines = 70  // a screen
	caseLines     = 6   // a dispatcher's case: the call and its few arguments
)

// checkSize leaves tests and generated code alone: tables may be long.
func checkSize(f *file) []complaint {
	if f.test || f.generated {
		return nil
	}
	var found []complaint
	if lines := f.line(f.syntax.FileEnd); lines > fileLines {
		found = append(found, f.at(f.syntax.Package, fmt.Sprintf("the file has %d lines, %d is the limit", lines, fileLines),
			"split it, one idea a file (250 lines are usual)"))
	}
	for _, decl := range f.syntax.Decls {
		function, ok := decl.(*ast.FuncDecl)
		if !ok || function.Body == nil || isDispatcher(f, function.Body) {
			continue
		}
		if lines := f.span(function); lines > functionLines {
			found = append(found, f.at(function.Name.Pos(), fmt.Sprintf("function %s has %d lines, %d is the limit", function.Name.Name, lines, functionLines),
				fmt.Sprintf("let it decide and move what it computes into leaf functions; only a switch whose cases fit %d lines may be longer", caseLines)))
		}
	}
	return found
}

func (f *file) span(n ast.Node) int { return f.line(n.End()) - f.line(n.Pos()) + 1 }

// isDispatcher recognizes a body that is mostly one switch with short cases: people read such a
// list like a table, however long.
func isDispatcher(f *file, body *ast.BlockStmt) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		var cases *ast.BlockStmt
		switch n := n.(type) {
		case *ast.SwitchStmt:
			cases = n.Body
		case *ast.TypeSwitchStmt:
			cases = n.Body
		default:
			return !found
		}
		found = found || f.span(n)*5 >= f.span(body)*4 && shortCases(f, cases)
		return !found
	})
	return found
}

func shortCases(f *file, cases *ast.BlockStmt) bool {
	for _, clause := range cases.List {
		body := clause.(*ast.CaseClause).Body
		if len(body) > 0 && f.line(body[len(body)-1].End())-f.line(body[0].Pos()) >= caseLines {
			return false
		}
	}
	return true
}
