package workflow

import (
	"errors"
	"fmt"
	"slices"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"hyperscale/core/message"
	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/inspect"
	"hyperscale/core/workflow/language"
)

// Inspect loads a program as Load does, and walks its functions without running them. The
// findings are all mistakes in the order of their places, and what only looks like one. The
// first that stops the load is the error, too: its program is nil.
func Inspect(p message.Program) (*Program, []inspect.Finding, error) { return InspectOffered(&p, nil) }

// InspectOffered does the same to a program that takes values as LoadOffered says.
func InspectOffered(p *message.Program, offered map[string]string) (*Program, []inspect.Finding, error) {
	l := newLoader(p, offered)
	program, err := l.loadWithin(guard.DefaultLimits())
	findings := l.more
	var wrong *language.Error
	if errors.As(err, &wrong) {
		findings = append(findings, inspect.Finding{Error: *wrong})
	}
	if err == nil {
		findings = append(findings, l.crowds(program.Plan())...)
	}
	for _, f := range l.inspect() {
		if err != nil && slices.ContainsFunc(findings, func(o inspect.Finding) bool { return o.File == f.File && o.Line == f.Line }) {
			continue // the load has found it, and says more
		}
		findings = append(findings, f)
	}
	return program, inspect.Sort(findings), err
}

// inspect walks what has been loaded.
func (l *loader) inspect() (found []inspect.Finding) {
	defer func() {
		// It calls functions with arguments that no virtual user has given them before.
		if r := recover(); r != nil {
			found = []inspect.Finding{{Error: language.Error{File: l.program.Main, Message: fmt.Sprintf("the search for mistakes gave up: %v", r), Remedy: "please report this file"}, Warning: true}}
		}
	}()
	src := language.NewSources()
	var files []inspect.File
	known := universe()
	for _, f := range l.program.Files {
		m := l.modules[f.Name]
		if m == nil {
			continue // no file loads it
		}
		tree, err := src.Parse(f.Name, f.Data)
		if err != nil {
			continue // the load says so
		}
		_ = resolve.File(tree, predeclared(known), starlark.Universe.Has) // the load says so; the rest of the names are resolved
		files = append(files, inspect.File{Name: f.Name, Tree: tree, Globals: m.globals, Main: f.Name == l.program.Main && declares(tree)})
	}
	return inspect.Program(newSandbox(known), src, files, l.roles)
}

// declares reports a file with workflows: in others functions are for those that load it.
func declares(tree *syntax.File) bool {
	found := false
	syntax.Walk(tree, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok {
			if id, ok := call.Fn.(*syntax.Ident); ok && id.Name == "workflow" {
				found = true
			}
		}
		return !found
	})
	return found
}

// sandbox is the language for a virtual user that sends nothing.
type sandbox struct {
	words *wording
	user  *VU
	known starlark.StringDict
}

var _ inspect.Language = (*sandbox)(nil)

func newSandbox(known starlark.StringDict) *sandbox {
	limits := guard.DefaultLimits()
	limits.CallSteps, limits.CallBytes = 100_000, 1<<20 // a walk calls with small values only
	flow := &Workflow{Plan: &message.WorkflowPlan{}, limits: limits, send: sendNamespace()}
	return &sandbox{words: &wording{limits: &limits, all: known}, user: flow.NewVU(1, 1, nowhere{}), known: known}
}

// User implements inspect.Language, as the methods below do.
func (s *sandbox) User() starlark.Value             { return s.user.value() }
func (s *sandbox) Response() starlark.Value         { return newResponse(&Response{}) }
func (s *sandbox) Predeclared() starlark.StringDict { return s.known }
func (s *sandbox) Arguments(path string, f starlark.Callable) (names []string, positional int, rest string) {
	return s.words.ask(path, f)
}

// Call calls a function as a step's function does.
func (s *sandbox) Call(f starlark.Callable, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	v, err := starlark.Call(&s.user.runner().thread, f, args, kwargs)
	var said *failure
	var unmet *builtin.Unmet
	if errors.As(err, &said) || errors.As(err, &unmet) {
		return nil, inspect.ErrMeant
	}
	return v, err
}
