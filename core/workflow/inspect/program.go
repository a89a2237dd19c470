package inspect

import (
	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"hyperscale/core/workflow/language"
)

// Bounds of one walk.
const (
	roundsMax   = 6
	workMax     = 8_000_000 // expressions, and values that joins copy
	callsMax    = 5_000     // of real functions
	depthMax    = 500       // of expressions in expressions
	findingsMax = 1000
)

// Language is the language as functions see it while they run.
type Language interface {
	// User returns what functions get as their first parameter.
	User() starlark.Value
	// Response returns what functions get of a step.
	Response() starlark.Value
	// Predeclared returns what a file sees besides Starlark's own names.
	Predeclared() starlark.StringDict
	// Call calls a function for a virtual user that sends nothing.
	Call(f starlark.Callable, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error)
	// Arguments returns the names that a function reports, how many need none, and what any
	// number of arguments behind those are; nil: it reports none.
	Arguments(path string, f starlark.Callable) (names []string, positional int, rest string)
}

// File is a file of the program.
type File struct {
	Name    string
	Tree    *syntax.File        // resolved
	Globals starlark.StringDict // nil: it is not loaded
	Main    bool
}

// Kind says what runs a function, and so what the function must return.
type Kind uint8

// The kinds.
const (
	Step Kind = iota
	Check
	Metric
	When
	Action // and hooks: any result is right
)

// Role is the use of a function.
type Role struct {
	Kind     Kind
	Word     string // how the file gives it: step, check, when, setup
	Function syntax.Position
	Ordered  bool // an after says what comes before it: else a parameter says what it needs
}

// program is the state of one walk.
type program struct {
	lang     Language
	source   *language.Sources
	files    []*file
	all      []*function
	at       map[language.Place]*function
	silent   bool // a round that only collects
	changed  bool
	work     int
	calls    int
	asked    map[string]asked
	returned map[string]value
	findings []Finding
}

type file struct {
	File
	defs    map[string]*function      // of the top level, by names with one declaration
	literal map[string]starlark.Value // of the top level, by names with one assignment
	loaded  map[*syntax.Ident]loaded  // by the first use of the local name
	sizes   map[string]bool           // of the top level: what is large, as far as it was asked
}

type loaded struct{ file, name string }

// large reports a value of the file that the walk does not compute with. Its trials have no meter: they would write a
// large value as text, or add two of them, once for each line that says so.
func (f *file) large(name string, v starlark.Value) bool {
	is, ok := f.sizes[name]
	if !ok {
		left := partsMax
		weigh(v, &left)
		is = left < 0
		f.sizes[name] = is
	}
	return is
}

// Program returns the mistakes of all functions, sorted. source must have the text of the files.
func Program(lang Language, source *language.Sources, files []File, roles []Role) []Finding {
	p := &program{
		lang: lang, source: source, at: map[language.Place]*function{},
		asked: map[string]asked{}, returned: map[string]value{},
	}
	for _, f := range files {
		p.declare(&file{File: f, defs: map[string]*function{}, literal: map[string]starlark.Value{}, loaded: map[*syntax.Ident]loaded{}, sizes: map[string]bool{}})
	}
	for _, r := range roles {
		if f := p.at[place(r.Function)]; f != nil {
			f.takeRole(lang, r)
		}
	}
	p.silent = true
	for range roundsMax {
		p.changed = false
		p.round()
		if !p.changed {
			break
		}
	}
	if p.changed {
		for _, f := range p.all {
			f.forget()
		}
	}
	p.silent = false
	p.round()
	p.unused()
	return Sort(p.findings)
}

// place is a position without the parse that it comes from.
func place(at syntax.Position) language.Place {
	return language.Place{File: at.Filename(), Line: at.Line, Col: at.Col}
}

// round walks all functions once.
func (p *program) round() {
	for _, f := range p.files {
		p.topLevel(f)
	}
	for _, f := range p.all {
		f.live = f.runs()
	}
	for _, f := range p.all {
		p.function(f)
	}
}

// declare collects the functions of a file, and what its names mean.
func (p *program) declare(f *file) {
	p.files = append(p.files, f)
	assigned := map[string]int{}
	for _, stmt := range f.Tree.Stmts {
		if s, ok := stmt.(*syntax.LoadStmt); ok {
			for i, to := range s.To {
				if b, ok := to.Binding.(*resolve.Binding); ok && b.First != nil {
					f.loaded[b.First] = loaded{s.ModuleName(), s.From[i].Name}
				}
			}
		}
	}
	syntax.Walk(f.Tree, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.DefStmt:
			p.add(f, n.Function, n.Name)
			if isGlobal(n.Name) {
				assigned[n.Name.Name]++
			}
		case *syntax.LambdaExpr:
			p.add(f, n.Function, nil)
		case *syntax.AssignStmt:
			targets(n.LHS, func(id *syntax.Ident) {
				if isGlobal(id) {
					assigned[id.Name]++
					if v, ok := constant(n.RHS); ok && n.Op == syntax.EQ {
						f.literal[id.Name] = v
					} else {
						assigned[id.Name]++
					}
				}
			})
		case *syntax.ForStmt:
			targets(n.Vars, func(id *syntax.Ident) {
				if isGlobal(id) {
					assigned[id.Name] += 2
				}
			})
		case *syntax.CallExpr:
			p.source.Calls[place(n.Lparen)] = n
		}
		return true
	})
	for _, stmt := range f.Tree.Stmts {
		if def, ok := stmt.(*syntax.DefStmt); ok && assigned[def.Name.Name] == 1 {
			if fn, ok := def.Function.(*resolve.Function); ok {
				f.defs[def.Name.Name] = p.at[place(fn.Pos)]
			}
		}
	}
	//lint:orderfree each name stands alone
	for name, n := range assigned {
		if n > 1 {
			delete(f.literal, name)
		}
	}
	p.uses(f)
}

func isGlobal(id *syntax.Ident) bool {
	b, ok := id.Binding.(*resolve.Binding)
	return ok && b.Scope == resolve.Global
}

// constant reads a literal, with its sign.
func constant(e syntax.Expr) (starlark.Value, bool) {
	if u, ok := e.(*syntax.UnaryExpr); ok && u.Op == syntax.MINUS {
		if v, ok := constant(u.X); ok {
			if n, err := starlark.Unary(syntax.MINUS, v); err == nil {
				return n, true
			}
		}
		return nil, false
	}
	l, ok := e.(*syntax.Literal)
	if !ok {
		return nil, false
	}
	switch v := l.Value.(type) {
	case int64:
		return starlark.MakeInt64(v), true
	case float64:
		return starlark.Float(v), true
	case string:
		if l.Token == syntax.BYTES {
			return starlark.Bytes(v), true
		}
		return starlark.String(v), true
	}
	return nil, false
}

func (p *program) add(f *file, resolved any, name *syntax.Ident) {
	node, ok := resolved.(*resolve.Function)
	if !ok || node == nil {
		return // the resolver gave up before it
	}
	fn := &function{file: f, node: node, name: name, params: make([]value, len(node.Params)), result: value{knowledge: never}, callers: map[*function]bool{}, inspected: map[string]bool{}}
	for i := range fn.params {
		fn.params[i].knowledge = never
	}
	p.all = append(p.all, fn)
	p.at[place(node.Pos)] = fn
}

// uses notes which functions leave the walk's sight, and which variables a function examines.
func (p *program) uses(f *file) {
	callees := map[*syntax.Ident]bool{}
	syntax.Walk(f.Tree, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			if id, ok := n.Fn.(*syntax.Ident); ok {
				callees[id] = true
			}
		case *syntax.Ident:
			if callees[n] {
				return true
			}
			if fn := p.functionOf(f, n); fn != nil && n != fn.name {
				fn.escapes = true
			}
		}
		return true
	})
	for _, fn := range p.all {
		if fn.file != f {
			continue
		}
		if fn.name == nil || f.defs[fn.name.Name] != fn {
			fn.escapes = true // a lambda or an inner function: any call is possible
		}
		for _, stmt := range fn.node.Body {
			syntax.Walk(stmt, fn.notes)
		}
	}
}

// notes keeps the variables whose type the function itself examines.
func (fn *function) notes(n syntax.Node) bool {
	call, ok := n.(*syntax.CallExpr)
	if !ok {
		return true
	}
	if id, ok := call.Fn.(*syntax.Ident); ok && (id.Name == "type" || id.Name == "hasattr" || id.Name == "getattr" || id.Name == "dir") {
		for _, arg := range call.Args {
			if x, ok := arg.(*syntax.Ident); ok {
				fn.inspected[x.Name] = true
			}
		}
	}
	return true
}

// functionOf returns the program's function that a name means; nil: something else.
func (p *program) functionOf(f *file, id *syntax.Ident) *function {
	b, ok := id.Binding.(*resolve.Binding)
	if !ok {
		return nil
	}
	if b.Scope == resolve.Global {
		return f.defs[id.Name]
	}
	if from, ok := f.loaded[b.First]; ok && b.First != nil {
		for _, other := range p.files {
			if other.Name == from.file {
				return other.defs[from.name]
			}
		}
	}
	return nil
}

// global returns what a name of the file means in a function.
func (p *program) global(f *file, id *syntax.Ident, live bool) value {
	if fn := p.functionOf(f, id); fn != nil {
		return value{knowledge: known, fn: fn, path: id.Name}
	}
	name := id.Name
	if from, ok := f.loaded[id.Binding.(*resolve.Binding).First]; ok {
		name = from.name
		for _, other := range p.files {
			if other.Name == from.file {
				f = other
			}
		}
	}
	if v, ok := f.literal[name]; ok {
		return exactly(v)
	}
	v := f.Globals[name]
	if v == nil {
		return value{}
	}
	switch v := v.(type) {
	case *starlark.Function:
		return value{} // declared more than once
	case *starlark.List, *starlark.Dict, *starlark.Set:
		return value{knowledge: known, like: typical(v), frozen: live}
	}
	if scalar(v) {
		return typed(v)
	}
	if callable(v) {
		return value{}
	}
	if n, ok := v.(*language.Namespace); ok {
		name = n.Kind // another name for it
	} else if f.large(name, v) {
		return value{}
	}
	return value{knowledge: known, like: v, path: name}
}
