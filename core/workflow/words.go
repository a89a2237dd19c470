package workflow

import (
	"errors"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"hyperscale/core/message"
)

// Word is a name that the language has, for who explains it or completes it.
type Word struct {
	Name       string // as a file writes it: "step", "http.get", "vu.sleep"; a response's begin with "response."
	Function   bool
	Arguments  []string // of a function, by name, in order; nil: it takes none by name
	Positional int      // so many first of them may stand without their name
}

// Parse reads the syntax of one file, with the bounds and the errors of Load.
func Parse(name string, data []byte) (*syntax.File, error) {
	src := &sources{lines: map[string][]string{}, calls: map[place]*syntax.CallExpr{}}
	file, err := src.parse(name, data)
	if err != nil {
		return nil, src.explain(name, err)
	}
	return file, nil
}

// Words lists the names that the language adds to Starlark's own, and those below
// them, sorted. Arguments are what the functions themselves say that they take: each
// is called with one that none of them has, and its refusal names the others.
func Words() []Word {
	limits := DefaultLimits()
	w := &wording{limits: &limits, all: vocabulary()}
	flow := &Workflow{Plan: &message.WorkflowPlan{}, limits: limits, send: sendNamespace()}
	user := flow.NewVU(1, 1, nil)
	w.all["vu"] = user.value()
	w.all["response"] = newResponse(&Response{})
	for _, name := range w.all.Keys() {
		w.walk(name, w.all[name])
	}
	slices.SortFunc(w.words, func(a, b Word) int { return strings.Compare(a.Name, b.Name) })
	return w.words
}

// wording is one Words under way.
type wording struct {
	limits *Limits
	all    starlark.StringDict
	words  []Word
}

func (w *wording) walk(name string, v starlark.Value) {
	word := Word{Name: name}
	if f, ok := v.(starlark.Callable); ok {
		word.Function = true
		word.Arguments, word.Positional = w.ask(name, f)
	}
	w.words = append(w.words, word)
	switch v := v.(type) {
	case *namespace, callable, *vuValue, *response, *headers, lapse:
		holder := v.(starlark.HasAttrs)
		for _, below := range holder.AttrNames() {
			// What cannot be had outside of a run is a word all the same.
			member, err := holder.Attr(below)
			if err != nil {
				member = starlark.None
			}
			w.walk(name+"."+below, member)
		}
	}
}

// ask makes a function say what it takes.
func (w *wording) ask(name string, f starlark.Callable) (names []string, positional int) {
	l := &loader{
		src:     &sources{lines: map[string][]string{}, calls: map[place]*syntax.CallExpr{}},
		modules: map[string]*module{}, limits: w.limits, predeclared: w.all,
	}
	thread := &starlark.Thread{Name: "words"}
	thread.SetLocal(meterKey, &meter{limits: w.limits, bytes: w.limits.LoadBytes, total: w.limits.LoadBytes, loader: l})
	unknown := []starlark.Tuple{{starlark.String("?"), starlark.None}}
	var args starlark.Tuple
	method := strings.HasSuffix(name, ".request")
	if method { // looks at it first
		args = starlark.Tuple{starlark.String("GET")}
	}
	// Whoever declares asks where it is called, so that somebody has to call.
	caller := starlark.NewBuiltin("words", func(thread *starlark.Thread, _ *starlark.Builtin, _ starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		return starlark.Call(thread, f, args, unknown)
	})
	_, err := starlark.Call(thread, caller, nil, nil)
	var refused *fault
	if !errors.As(err, &refused) || refused.takes == nil {
		return nil, 0
	}
	if method {
		return append([]string{"method"}, refused.takes...), refused.positional + 1
	}
	return refused.takes, refused.positional
}
