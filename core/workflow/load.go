package workflow

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"hyperscale/core/message"
	"hyperscale/core/plan"
)

// module is a file that is loaded, or on its way.
type module struct {
	globals starlark.StringDict // nil: on its way
	err     error
}

// Load reads a program within DefaultLimits. Its error is an *Error.
func Load(p message.Program) (*Program, error) { return LoadWithin(p, DefaultLimits()) }

// LoadWithin reads a program within the given limits. Its error is an *Error.
func LoadWithin(p message.Program, limits Limits) (program *Program, err error) {
	l := &loader{
		program: p,
		src:     &sources{lines: map[string][]string{}, calls: map[place]*syntax.CallExpr{}},
		modules: map[string]*module{}, paramAt: map[string]syntax.Position{}, plain: map[syntax.Position]*resolve.Function{},
		plan: message.Plan{Source: p.Main},
	}
	defer func() {
		// The parser and the compiler are not ours, and the bytes are not either.
		if r := recover(); r != nil {
			program, err = nil, &Error{File: p.Main, Message: fmt.Sprintf("the interpreter gave up: %v", r), Remedy: "please report this file"}
		}
	}()
	if err := l.run(limits); err != nil {
		return nil, l.src.explain(p.Main, err)
	}
	program, err = l.build(limits)
	if err != nil {
		return nil, l.src.explain(p.Main, err)
	}
	return program, nil
}

// run executes the files.
func (l *loader) run(limits Limits) error {
	if err := checkFiles(l.program.Files); err != nil {
		return err
	}
	l.limits = &limits
	m := &meter{limits: &limits, bytes: limits.LoadBytes, total: limits.LoadBytes, loader: l}
	thread := &starlark.Thread{Name: l.program.Main, Load: l.load}
	thread.SetLocal(meterKey, m)
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
			// Freezing walks all of a tuple that holds itself many times over.
			if err := m.render(globals[name], limits.Nesting, &left); err != nil {
				return &Error{File: file, Message: fmt.Sprintf("%s: %v", name, err)}
			}
			if left < 0 {
				return &Error{File: file, Message: fmt.Sprintf("%s: what the program keeps takes more than %s", name, size(uint64(limits.KeptBytes))), Remedy: "keep less, or make it in a step's function"}
			}
		}
		globals.Freeze()
	}
	return l.unknownParams()
}

func checkFiles(files []message.File) error {
	if len(files) > plan.FilesMax {
		return &Error{Message: fmt.Sprintf("the program has %d files, the limit is %d", len(files), plan.FilesMax), Remedy: "put some of them together"}
	}
	total := 0
	for _, f := range files {
		total += len(f.Data)
	}
	if total > plan.FileBytesMax {
		return tooLarge(total)
	}
	return nil
}

func tooLarge(total int) error {
	return &Error{Message: fmt.Sprintf("the program's files have %s, the limit is %s", size(uint64(total)), size(plan.FileBytesMax)), Remedy: "keep data out of the files"}
}

// load is Starlark's load(): a file of the program, once.
func (l *loader) load(thread *starlark.Thread, name string) (starlark.StringDict, error) {
	if name != l.program.Main {
		if err := checkFileName(name); err != nil {
			return nil, err
		}
	}
	if done, ok := l.modules[name]; ok {
		if done.globals == nil && done.err == nil {
			return nil, faultf("%s loads itself, directly or by others", name).do("move what both need into a third file")
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
			return nil, &Error{File: name, Message: "the program does not have this file"}
		}
		return nil, faultf("the program has no file %q", name).meant(name, known)
	}
	if len(thread.CallStack()) > plan.FilesMax {
		return nil, faultf("files load files more than %d deep", plan.FilesMax)
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
	file, err := l.src.parse(name, data)
	if err != nil {
		return nil, err
	}
	l.reads.look(file)
	(&rewriter{src: l.src}).file(file)
	compiled, err := starlark.FileProgram(file, l.predeclared.Has)
	if err != nil {
		return nil, l.src.unresolved(err)
	}
	l.remember(file)
	return compiled.Init(thread, l.predeclared)
}

// checkFileName keeps load() inside the main file's folder.
func checkFileName(name string) *fault {
	if err := insideFolder("load", name); err != nil {
		return err.do("write load(\"folder/file.star\", \"name\")")
	}
	if !strings.HasSuffix(name, ".star") {
		return faultf("load: %q does not end in .star", clip(name, 80))
	}
	return nil
}

// unknownParams refuses values for params that no file declares.
func (l *loader) unknownParams() error {
	known := make([]string, len(l.plan.Params))
	for i, p := range l.plan.Params {
		known[i] = p.Name
	}
	for _, p := range l.program.Params {
		if slices.Contains(known, p.Name) {
			continue
		}
		f := faultf("--set %s=%s: no file declares a param %q", clip(p.Name, 40), clip(p.Value, 40), clip(p.Name, 40)).meant(p.Name, known)
		if f.remedy == "" {
			f.do("declare it: %s = param(%q, default = ...)", p.Name, p.Name)
		}
		return &Error{File: l.program.Main, Message: f.message, Remedy: f.remedy}
	}
	return nil
}
