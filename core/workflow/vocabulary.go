package workflow

import (
	"errors"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"hyperscale/core/message"
	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/request"
	"hyperscale/core/workflow/session"
)

// Word is a name of the language, for tools that explain or complete it.
type Word struct {
	Name       string // in a file: "step", "http.get", "vu.sleep"; a response's begin with "response.", a session's with "session.", a transaction's with "transaction."
	Function   bool
	Arguments  []string // of a function, by name, in order; nil: none by name
	Positional int      // so many of the first ones may be given without a name
	Rest       string   // what any number of arguments behind those are; empty: there are none
}

// Parse reads the syntax of one file, with the bounds and the errors of Load.
func Parse(name string, data []byte) (*syntax.File, error) {
	src := language.NewSources()
	file, err := src.Parse(name, data)
	if err != nil {
		return nil, src.Explain(name, err)
	}
	return file, nil
}

// Words lists the names that the language adds to Starlark's own, and the names below them,
// sorted. Arguments are what the functions themselves report: Words calls each with an argument
// that none has, and its error names the others.
func Words() []Word {
	limits := guard.DefaultLimits()
	w := &wording{limits: &limits, all: vocabulary()}
	flow := &Workflow{Plan: &message.WorkflowPlan{}, limits: limits, send: sendNamespace()}
	user := flow.NewVU(1, 1, nil)
	w.all["vu"] = user.value()
	w.all["response"] = newResponse(&Response{})
	w.all["session"] = session.New("vu.websocket", held{nothing{}}, user, session.Every)
	w.all["transaction"] = request.SQLTransaction(request.SQL{Target: &request.Target{}}, new(session.Transaction), user, asArguments(), nil)
	w.all["message"] = session.NewMessage(session.Message{}, session.Every)
	for _, name := range w.all.Keys() {
		w.walk(name, w.all[name])
	}
	letter := session.NewMessage(session.Message{}, session.Subscription)
	for _, name := range letter.AttrNames() {
		if !slices.ContainsFunc(w.words, func(known Word) bool { return known.Name == "message."+name }) {
			w.words = append(w.words, Word{Name: "message." + name})
		}
	}
	slices.SortFunc(w.words, func(a, b Word) int { return strings.Compare(a.Name, b.Name) })
	return w.words
}

// wording is the state of one Words.
type wording struct {
	limits *guard.Limits
	all    starlark.StringDict
	words  []Word
}

func (w *wording) walk(name string, v starlark.Value) {
	word := Word{Name: name}
	if f, ok := v.(starlark.Callable); ok {
		word.Function = true
		word.Arguments, word.Positional, word.Rest = w.ask(name, f)
	}
	w.words = append(w.words, word)
	switch v := v.(type) {
	case *language.Namespace, guard.Callable, *vuValue, *response, *headers, builtin.Duration, *session.Value, *session.Received, *session.Transacting:
		holder := v.(starlark.HasAttrs)
		for _, below := range holder.AttrNames() {
			// A member that exists only during a run is a word, too.
			member, err := holder.Attr(below)
			if err != nil {
				member = starlark.None
			}
			w.walk(name+"."+below, member)
		}
	}
}

// ask makes a function report its arguments.
func (w *wording) ask(name string, f starlark.Callable) (names []string, positional int, rest string) {
	l := &loader{
		files:   sentFiles{},
		src:     language.NewSources(),
		modules: map[string]*module{}, limits: w.limits, predeclared: w.all,
	}
	thread := &starlark.Thread{Name: "words"}
	thread.SetLocal(guard.MeterKey, &guard.Meter{Limits: w.limits, Bytes: w.limits.LoadBytes, Total: w.limits.LoadBytes, Owner: l})
	unknown := []starlark.Tuple{{starlark.String("?"), starlark.None}}
	var args starlark.Tuple
	method := strings.HasSuffix(name, "http.request")
	if method { // a method checks its receiver first
		args = starlark.Tuple{starlark.String("GET")}
	}
	// A declaring function needs the position of its call, so a Starlark function must call it.
	caller := starlark.NewBuiltin("words", func(thread *starlark.Thread, _ *starlark.Builtin, _ starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		return starlark.Call(thread, f, args, unknown)
	})
	_, err := starlark.Call(thread, caller, nil, nil)
	var refused *language.Fault
	if !errors.As(err, &refused) || refused.Takes == nil {
		return nil, 0, ""
	}
	if method {
		return append([]string{"method"}, refused.Takes...), refused.Positional + 1, refused.Rest
	}
	return refused.Takes, refused.Positional, refused.Rest
}
