package main

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// orderedRooms are where the order of a map must not reach an output.
var orderedRooms = []string{"core", "sim", "netsim", "checker", "scenarios"}

const (
	directive    = "//lint:orderfree"
	remedyRange  = "range over slices.Sorted(maps.Keys(m)), or say why order cannot matter in the line above: " + directive + " <reason>"
	remedyMaps   = "hand it to slices.Sorted or slices.SortedFunc, or say why order cannot matter in the line above: " + directive + " <reason>"
	remedyReason = "write why the order cannot matter behind it, or sort the keys"
)

// checkOrder finds what depends on the order of a map. Tests count: a failure
// that moves from run to run costs more than a sorted loop.
func checkOrder(f *file) []complaint {
	floor, _, _ := strings.Cut(f.pkg, "/")
	if !slices.Contains(orderedRooms, floor) || f.generated {
		return nil
	}
	excuses := orderExcuses(f)
	var found []complaint
	used := map[int]bool{} // lines of directives that excuse something
	report := func(n ast.Node, wrong, remedy string) {
		above := f.line(n.Pos()) - 1
		if _, ok := excuses[above]; ok {
			used[above] = true
			return
		}
		found = append(found, f.at(n.Pos(), wrong, remedy))
	}
	sorted := map[ast.Node]bool{} // arguments of slices.Sorted*
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			if isMap(f.info.TypeOf(n.X)) && n.Key != nil {
				report(n, "range over a map", remedyRange)
			}
		case *ast.CallExpr:
			if pkg, name := callee(f.info, n); pkg == "slices" && strings.HasPrefix(name, "Sorted") {
				sorted[ast.Unparen(n.Args[0])] = true
			} else if pkg == "maps" && slices.Contains([]string{"Keys", "Values", "All"}, name) && !sorted[n] {
				report(n, "maps."+name+" yields in random order", remedyMaps)
			}
		}
		return true
	})
	return append(found, badExcuses(f, excuses, used)...)
}

// orderExcuses maps the line of each directive to its comment.
func orderExcuses(f *file) map[int]*ast.Comment {
	excuses := map[int]*ast.Comment{}
	for _, group := range f.syntax.Comments {
		for _, comment := range group.List {
			if strings.HasPrefix(comment.Text, directive) {
				excuses[f.line(comment.Pos())] = comment
			}
		}
	}
	return excuses
}

func badExcuses(f *file, excuses map[int]*ast.Comment, used map[int]bool) []complaint {
	var found []complaint
	for line, comment := range excuses {
		reason := strings.TrimPrefix(comment.Text, directive)
		if !strings.HasPrefix(reason, " ") || strings.TrimSpace(reason) == "" {
			found = append(found, f.at(comment.Pos(), directive+" without a reason", remedyReason))
		}
		if !used[line] {
			found = append(found, f.at(comment.Pos(), directive+" excuses nothing in the line below", "move it right above the range, or delete it"))
		}
	}
	return found
}

// isMap looks through names and type parameters, all of whose types are maps.
func isMap(t types.Type) bool {
	if t == nil {
		return false
	}
	if parameter, ok := types.Unalias(t).(*types.TypeParam); ok {
		constraint, ok := parameter.Constraint().Underlying().(*types.Interface)
		return ok && constraint.NumEmbeddeds() == 1 && isMapTerm(constraint.EmbeddedType(0))
	}
	_, ok := t.Underlying().(*types.Map)
	return ok
}

func isMapTerm(t types.Type) bool {
	if union, ok := t.(*types.Union); ok {
		return union.Len() > 0 && isMap(union.Term(0).Type())
	}
	return isMap(t)
}

// callee names the function of a call: its package's path and its name.
func callee(info *types.Info, call *ast.CallExpr) (pkg, name string) {
	fun := ast.Unparen(call.Fun)
	if index, ok := fun.(*ast.IndexExpr); ok {
		fun = index.X
	}
	selector, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return "", ""
	}
	function, ok := info.Uses[selector.Sel].(*types.Func)
	if !ok || function.Pkg() == nil {
		return "", ""
	}
	return function.Pkg().Path(), function.Name()
}
