package inspect

import (
	"fmt"
	"slices"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// judge checks what a function returns against what runs it.
func (w *walker) judge() {
	type use struct {
		kind Kind
		word string
	}
	judged := map[use]bool{}
	for _, r := range w.fn.roles {
		if as := (use{r.Kind, r.Word}); !judged[as] {
			judged[as] = true
			w.returns(r)
		}
	}
}

// wants says what a kind must return, and what to write.
func wants(k Kind) (must, remedy string) {
	switch k {
	case Step:
		return "must return the response that it measures", "write return vu.http.get(...)"
	case Check:
		return "must return True, False or a text that says what is wrong", "write return response.status == 200, say"
	case Metric:
		return "must return a number", "write return response.latency.milliseconds, say"
	case When:
		return "must return True or False", "write return vu.iteration == 1, say"
	}
	return "", ""
}

// suits reports whether a known value is right.
func suits(k Kind, v value) bool {
	if v.fn != nil {
		return false
	}
	switch k {
	case Step:
		return v.is("response")
	case Check:
		return v.is("bool") || v.is("string") && !(v.exact && v.like == starlark.String(""))
	case Metric:
		return v.is("int") || v.is("float")
	case When:
		return v.is("bool")
	}
	return true
}

func (w *walker) returns(r Role) {
	must, remedy := wants(r.Kind)
	if must == "" {
		return
	}
	some := false // return gives what it must, as far as is known
	for _, one := range w.results {
		some = some || one.at != nil && (one.knowledge != known || suits(r.Kind, one.value))
	}
	for _, one := range w.results {
		if one.knowledge != known || suits(r.Kind, one.value) {
			continue
		}
		what := one.noun()
		if one.at != nil {
			w.p.find(one.at, false, fmt.Sprintf("the function of %s %s, not %s", r.title(), must, what), better(r.Kind, one, remedy))
			continue
		}
		at, width := w.fn.place()
		if some {
			w.p.findAt(at, width, true, fmt.Sprintf("%s can end without return: the function of %s %s", w.fn.title(), r.title(), must), remedy)
		} else {
			w.p.findAt(at, width, false, fmt.Sprintf("%s returns nothing: the function of %s %s", w.fn.title(), r.title(), must), remedy)
		}
	}
}

// title names a role in messages.
func (r Role) title() string {
	if r.Kind == When {
		return r.Word
	}
	return "a " + r.Word
}

func (r result) expr() syntax.Expr {
	e, _ := r.at.(syntax.Expr)
	return e
}

// better proposes what the returned value is closest to.
func better(k Kind, v result, remedy string) string {
	switch {
	case v.like != nil && callable(v.like) && v.path != "":
		return calling(v.expr(), v.value)
	case k == Metric && v.is("duration"):
		return "write .milliseconds or .seconds behind it"
	case k == Step && v.is("request"):
		return "in a function, vu.http sends requests: " + remedy
	}
	return remedy
}

// unused reports what no one reads: the parameters of functions that take responses, and
// functions of the main file.
func (p *program) unused() {
	declared := map[*syntax.Ident]bool{}
	for _, fn := range p.all {
		if fn.name != nil {
			declared[fn.name] = true
		}
		for _, param := range fn.node.Params {
			declared[paramName(param)] = true
		}
	}
	for _, f := range p.files {
		read := map[*syntax.Ident]bool{} // by the variable's first use
		globals := map[string]int{}      // reads of names of the file
		syntax.Walk(f.Tree, func(n syntax.Node) bool {
			id, ok := n.(*syntax.Ident)
			if !ok || declared[id] {
				return true
			}
			if b, ok := id.Binding.(*resolve.Binding); ok {
				if b.First != nil {
					read[b.First] = true
				}
				if b.Scope == resolve.Global {
					globals[id.Name]++
				}
			}
			return true
		})
		for _, fn := range p.all {
			if fn.file == f {
				p.unusedIn(fn, read, globals)
			}
		}
	}
}

func (p *program) unusedIn(fn *function, read map[*syntax.Ident]bool, globals map[string]int) {
	if fn.name != nil && fn.file.Main && fn.file.defs[fn.name.Name] == fn && globals[fn.name.Name] == 0 {
		p.find(fn.name, true, fn.name.Name+" is used nowhere", fmt.Sprintf("write step(%[1]s) or check(%[1]s) in a workflow's steps, or take it out", fn.name.Name))
	}
	if len(fn.roles) == 0 || slices.ContainsFunc(fn.roles, func(r Role) bool { return !r.Ordered }) {
		return
	}
	for i, param := range fn.node.Params {
		if id, ok := param.(*syntax.Ident); ok && i > 0 && !read[id] {
			p.find(id, true, fmt.Sprintf("%s takes the response of %s and does not use it", fn.title(), id.Name), "take the parameter out: after = [...] alone keeps the order")
		}
	}
}
