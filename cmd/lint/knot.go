package main

import (
	"go/ast"
	"maps"
	"slices"
)

// knot returns the most files of a package that call each other in a circle: the
// largest strongly connected component of the graph of calls between files.
func knot(files map[string]*ast.File) []string {
	return circle(callGraph(files))
}

func circle(g map[string]map[string]bool) []string {
	w := walk{graph: g, index: map[string]int{}, low: map[string]int{}, open: map[string]bool{}}
	for _, name := range slices.Sorted(maps.Keys(g)) {
		if w.index[name] == 0 {
			w.visit(name)
		}
	}
	return w.largest
}

// callGraph says which files a file calls. Names stand for functions: a name that
// two files declare counts for neither, and so do calls through a field of a field.
func callGraph(files map[string]*ast.File) map[string]map[string]bool {
	owner, twice := map[string]string{}, map[string]bool{}
	for base, f := range files {
		for _, decl := range f.Decls {
			function, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			name := function.Name.Name
			if other, was := owner[name]; was && other != base {
				twice[name] = true
			}
			owner[name] = base
		}
	}
	g := map[string]map[string]bool{}
	for base, f := range files {
		g[base] = map[string]bool{}
		ast.Inspect(f, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				name := called(call)
				if callee := owner[name]; callee != "" && !twice[name] && callee != base {
					g[base][callee] = true
				}
			}
			return true
		})
	}
	return g
}

func called(call *ast.CallExpr) string {
	switch function := call.Fun.(type) {
	case *ast.Ident:
		return function.Name
	case *ast.SelectorExpr:
		if _, deep := function.X.(*ast.SelectorExpr); !deep {
			return function.Sel.Name
		}
	}
	return ""
}

// walk is Tarjan's search for strongly connected components.
type walk struct {
	graph      map[string]map[string]bool
	index, low map[string]int
	open       map[string]bool
	stack      []string
	largest    []string // sorted
}

func (w *walk) visit(name string) {
	w.index[name] = len(w.index) + 1
	w.low[name] = w.index[name]
	w.stack = append(w.stack, name)
	w.open[name] = true
	for _, next := range slices.Sorted(maps.Keys(w.graph[name])) {
		if w.index[next] == 0 {
			w.visit(next)
			w.low[name] = min(w.low[name], w.low[next])
		} else if w.open[next] {
			w.low[name] = min(w.low[name], w.index[next])
		}
	}
	if w.low[name] != w.index[name] {
		return
	}
	from := slices.Index(w.stack, name)
	component := slices.Sorted(slices.Values(w.stack[from:]))
	w.stack = w.stack[:from]
	for _, member := range component {
		w.open[member] = false
	}
	if len(component) > len(w.largest) {
		w.largest = component
	}
}
