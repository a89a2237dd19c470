package inspect

import (
	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// function is a def or a lambda of the program.
type function struct {
	file      *file
	node      *resolve.Function
	name      *syntax.Ident // nil: a lambda
	roles     []Role
	params    []value // what all calls give
	result    value   // what all returns give
	escapes   bool    // calls of it are unknown
	callers   map[*function]bool
	outside   bool // the file calls it while it loads
	live      bool // it runs for virtual users only
	inspected map[string]bool
	signed    *signature // nil: nothing has called it
}

// takeRole types the parameters as the engine passes them.
func (fn *function) takeRole(lang Language, r Role) {
	fn.roles = append(fn.roles, r)
	for i, param := range fn.node.Params {
		v := value{} // a parameter with a default may get its default
		if _, ok := param.(*syntax.Ident); ok {
			v = value{knowledge: known, like: lang.Response(), path: "response"}
			if i == 0 {
				v = value{knowledge: known, like: lang.User(), path: "vu"}
			}
		}
		fn.params[i] = join(fn.params[i], v)
	}
}

// runs reports that only virtual users run it.
func (fn *function) runs() bool {
	if len(fn.roles) > 0 {
		return !fn.outside
	}
	if fn.escapes || fn.outside || len(fn.callers) == 0 {
		return false
	}
	//lint:orderfree all of them must be
	for c := range fn.callers {
		if !c.live {
			return false
		}
	}
	return true
}

// forget drops what rounds have found out, which is not settled.
func (fn *function) forget() {
	fn.result = value{}
	if len(fn.roles) == 0 {
		for i := range fn.params {
			fn.params[i] = value{}
		}
	}
}

// title names a function in messages.
func (fn *function) title() string {
	if fn.name == nil {
		return "this lambda"
	}
	return fn.name.Name
}

// place is what messages about the whole function mark.
func (fn *function) place() (at syntax.Position, width int) {
	if fn.name != nil {
		return fn.name.NamePos, len([]rune(fn.name.Name))
	}
	return fn.node.Pos, len("lambda")
}

// walker is the state of a walk through one function, or through the top level of a file.
type walker struct {
	p       *program
	file    *file
	fn      *function // nil: the top level
	env     []value   // local variables; nil: nothing comes here
	live    bool
	depth   int
	results []result
}

// result is a return statement, and what it returns.
type result struct {
	at syntax.Node // nil: the end of the function
	value
}

// function walks one function with what is known of its parameters.
func (p *program) function(fn *function) {
	open := len(fn.roles) == 0 && (fn.escapes || len(fn.callers) == 0 && !fn.outside)
	w := &walker{p: p, file: fn.file, fn: fn, live: fn.live, env: make([]value, len(fn.node.Locals))}
	for i := range w.env {
		w.env[i].knowledge = unset
	}
	for i, param := range fn.node.Params {
		id := paramName(param)
		if id == nil {
			continue
		}
		v := fn.params[i]
		if _, plain := param.(*syntax.Ident); open || v.knowledge == never || !plain || fn.inspected[id.Name] || fn.escapes && len(fn.roles) == 0 {
			v = value{}
		}
		w.bind(id, v)
	}
	w.block(fn.node.Body)
	if w.env != nil {
		w.results = append(w.results, result{nil, exactly(starlark.None)})
	}
	all := value{knowledge: never}
	for _, r := range w.results {
		all = join(all, r.value)
	}
	if merged := join(fn.result, all); !same(merged, fn.result) {
		fn.result, p.changed = merged, true
	}
	if !p.silent {
		w.judge()
	}
}

func same(a, b value) bool {
	return a.knowledge == b.knowledge && a.exact == b.exact && a.fn == b.fn && a.path == b.path && a.frozen == b.frozen &&
		(a.like == nil) == (b.like == nil) && (a.like == nil || a.like.Type() == b.like.Type())
}

// topLevel walks what a file does while it loads, for the calls of its functions.
func (p *program) topLevel(f *file) {
	locals := 0
	if m, ok := f.Tree.Module.(*resolve.Module); ok && m != nil {
		locals = len(m.Locals)
	}
	w := &walker{p: p, file: f, env: make([]value, locals)}
	if f.Globals != nil { // it has run: only who calls what is of interest
		before := p.silent
		p.silent = true
		defer func() { p.silent = before }()
	}
	w.block(f.Tree.Stmts)
}
