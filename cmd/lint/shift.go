package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// shiftRooms may shift durations: core/retry grows waits, and core/stats has windows of data that
// double.
var shiftRooms = []string{"core/retry", "core/stats"}

const remedyShift = "a wait that grows is a retry.Backoff (core/retry), which has a cap and jitter and cannot overflow"

// checkShift finds durations that are shifted: back-off made by hand.
func checkShift(f *file) []complaint {
	if !strings.HasPrefix(f.pkg, "core/") || f.test || f.generated || slices.Contains(shiftRooms, f.pkg) {
		return nil
	}
	var found []complaint
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		var shifted ast.Expr
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if n.Op == token.SHL && f.info.Types[n].Value == nil {
				shifted = n.X
			}
		case *ast.AssignStmt:
			if n.Tok == token.SHL_ASSIGN {
				shifted = n.Lhs[0]
			}
		}
		if shifted != nil && isDuration(f.info.TypeOf(shifted)) {
			found = append(found, f.at(n.Pos(), "a duration is shifted", remedyShift))
		}
		return true
	})
	return found
}

func isDuration(t types.Type) bool {
	named, ok := t.(*types.Named)
	return ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == "time" && named.Obj().Name() == "Duration"
}
