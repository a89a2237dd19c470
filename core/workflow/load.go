package workflow

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/core/workflow/collect"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/inspect"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/secret"
)

// deepMax bounds how deep files load files: each takes a piece of the stack.
const deepMax = 64

// module is a loaded file, or one that is being loaded.
type module struct {
	globals starlark.StringDict // nil: loading
	err     error
}

// Load reads a program within DefaultLimits. Its error is an *Error, or an *Unreflected with one.
func Load(p message.Program) (*Program, error) { return LoadWithin(p, guard.DefaultLimits()) }

// LoadWithin reads a program within the given limits. Its error is an *Error.
func LoadWithin(p message.Program, limits guard.Limits) (*Program, error) {
	return newLoader(&p, nil).loadWithin(limits)
}

// LoadOffered reads a program that takes values of its params from offered as well. The keys are
// the params' names by language.Variable. It adds what it takes to p.Params.
func LoadOffered(p *message.Program, offered map[string]string) (*Program, error) {
	return newLoader(p, offered).loadWithin(guard.DefaultLimits())
}

func newLoader(p *message.Program, offered map[string]string) *loader {
	return &loader{
		files:   sentFiles{},
		program: p, offered: offered, vault: secret.NewVault(p.Files),
		src:     language.NewSources(),
		modules: map[string]*module{}, paramAt: map[string]syntax.Position{}, plain: map[syntax.Position]*resolve.Function{},
		plan: message.Plan{Source: p.Main},
	}
}

func (l *loader) loadWithin(limits guard.Limits) (program *Program, err error) {
	main := l.program.Main
	defer func() {
		// The parser and the compiler are third-party code, and the bytes are untrusted.
		if r := recover(); r != nil {
			program, err = nil, &language.Error{File: main, Message: fmt.Sprintf("the interpreter gave up: %v", r), Remedy: "please report this file"}
		}
	}()
	if err := l.run(limits); err != nil {
		wrong := l.src.Explain(main, err)
		var u *Unreflected
		if errors.As(err, &u) {
			u.cause = wrong
			return nil, u
		}
		return nil, wrong
	}
	program, err = l.build(limits)
	if err != nil {
		return nil, l.src.Explain(main, err)
	}
	return program, nil
}

// run executes the files.
func (l *loader) run(limits guard.Limits) error {
	if err := checkFiles(l.program.Files); err != nil {
		return err
	}
	l.limits = &limits
	m := &guard.Meter{Limits: &limits, Bytes: limits.LoadBytes, Total: limits.LoadBytes, Owner: l}
	thread := &starlark.Thread{Name: l.program.Main, Load: l.load}
	thread.SetLocal(guard.MeterKey, m)
	thread.SetMaxExecutionSteps(limits.LoadSteps)
	thread.OnMaxSteps = func(t *starlark.Thread) {
		t.Cancel(fmt.Sprintf("the file is not loaded after %d steps", limits.LoadSteps))
	}
	l.predeclared = universe()
	if _, err := l.load(thread, l.program.Main); err != nil {
		return err
	}
	left := limits.KeptBytes
	for _, file := range slices.Sorted(maps.Keys(l.modules)) {
		globals := l.modules[file].globals
		for _, name := range globals.Keys() {
			// Freezing walks all of a tuple that contains itself many times.
			if err := m.Render(globals[name], limits.Nesting, &left); err != nil {
				return &language.Error{File: file, Message: fmt.Sprintf("%s: %v", name, err)}
			}
			if left < 0 {
				return &language.Error{File: file, Message: fmt.Sprintf("%s: what the program keeps takes more than %s", name, guard.Size(uint64(limits.KeptBytes))), Remedy: "keep less, or make it in a step's function"}
			}
		}
		globals.Freeze()
	}
	return l.unknownParams()
}

func checkFiles(files []message.File) error {
	if len(files) > plan.FilesMax {
		return &language.Error{Message: fmt.Sprintf("the program has %d files, the limit is %d", len(files), plan.FilesMax), Remedy: "put some of them together"}
	}
	total := 0
	for _, f := range files {
		total += len(f.Data)
	}
	if total > plan.FileBytesMax {
		return collect.TooLarge(total)
	}
	return nil
}

// load is Starlark's load(): a file of the program, once.
func (l *loader) load(thread *starlark.Thread, name string) (starlark.StringDict, error) {
	if name != l.program.Main {
		if err := collect.CheckFileName(name); err != nil {
			return nil, err
		}
	}
	if done, ok := l.modules[name]; ok {
		if done.globals == nil && done.err == nil {
			return nil, language.Faultf("%s loads itself, directly or by others", name).Do("move what both need into a third file")
		}
		return done.globals, done.err
	}
	i := slices.IndexFunc(l.program.Files, func(f message.File) bool { return f.Name == name })
	if i < 0 {
		known := make([]string, len(l.program.Files))
		for i, f := range l.program.Files {
			known[i] = f.Name
		}
		if name == l.program.Main {
			return nil, &language.Error{File: name, Message: "the program does not have this file"}
		}
		return nil, language.Faultf("the program has no file %q", name).Meant(name, known)
	}
	if len(thread.CallStack()) > deepMax {
		return nil, language.Faultf("files load files more than %d deep", deepMax)
	}
	done := &module{}
	l.modules[name] = done
	done.globals, done.err = l.execute(thread, name, l.program.Files[i].Data)
	if done.err != nil {
		done.globals = nil
	}
	return done.globals, done.err
}

func (l *loader) execute(thread *starlark.Thread, name string, data []byte) (starlark.StringDict, error) {
	file, err := l.src.Parse(name, data)
	if err != nil {
		return nil, err
	}
	l.usage.look(file)
	guard.Rewrite(l.src, file)
	compiled, err := starlark.FileProgram(file, predeclared(l.predeclared))
	if err != nil {
		wrong := l.src.Unresolved(err, declared(), func(name string, at syntax.Position) string { return inspect.Unknown(file, name, at) })
		for _, other := range wrong[1:] {
			l.more = append(l.more, inspect.Finding{Error: *other})
		}
		return nil, wrong[0]
	}
	l.remember(file)
	return compiled.Init(thread, l.predeclared)
}

// unknownMax bounds how many unknown names of a file are reported. For each the resolver compares all names that the
// file declares, and an explanation walks the file: 512 KiB of unknown names took hours.
const unknownMax = 100

// predeclared answers the resolver's question. Behind unknownMax unknown names it takes each for a known one: the
// file is rejected anyway.
func predeclared(known starlark.StringDict) func(name string) bool {
	unknown := 0
	return func(name string) bool {
		if known.Has(name) {
			return true
		}
		if starlark.Universe.Has(name) {
			return false
		}
		unknown++
		return unknown > unknownMax
	}
}

// unknownParams rejects values for params that no file declares.
func (l *loader) unknownParams() error {
	known := make([]string, len(l.plan.Params))
	for i, p := range l.plan.Params {
		known[i] = p.Name
	}
	for _, p := range l.program.Params {
		if slices.Contains(known, p.Name) {
			continue
		}
		f := language.Faultf("--set %s=...: no file declares a param %q", language.Clip(p.Name, 40), language.Clip(p.Name, 40)).Meant(p.Name, known)
		if f.Remedy == "" {
			f.Do("declare it: %s = param(%q, default = ...)", p.Name, p.Name)
		}
		return &language.Error{File: l.program.Main, Message: f.Message, Remedy: f.Remedy}
	}
	return nil
}

// usage says what the files of a program may read of responses, judged by their text: names
// after a dot. A false yes costs memory, a false no would lose something.
type usage struct{ heads, bodies bool }

// look adds what a file reads.
func (r *usage) look(file *syntax.File) {
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.DotExpr:
			switch n.Name.Name {
			case "headers":
				r.heads = true
			case "body", "text", "json":
				r.bodies = true
			}
		case *syntax.Ident:
			if n.Name == "getattr" { // the name may be computed
				r.heads, r.bodies = true, true
			}
		}
		return true
	})
}
