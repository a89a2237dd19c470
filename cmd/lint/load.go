package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

// tree is the module that is linted.
type tree struct {
	root   string // absolute
	module string // "hyperscale"
	files  []*file
}

// file is one Go file of the module, parsed and type-checked.
type file struct {
	module    string
	pkg       string // directory below the root, "core/node"; "." for the root itself
	path      string // file below the root, "core/node/env.go"
	test      bool   // _test.go
	generated bool   // _gen.go, or says so in its first comment
	fset      *token.FileSet
	syntax    *ast.File
	info      *types.Info
}

const loadMode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles |
	packages.NeedImports | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo |
	packages.NeedModule

func load(root string, patterns []string) (*tree, error) {
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	config := &packages.Config{Mode: loadMode, Dir: root, Tests: true, Fset: token.NewFileSet()}
	loaded, err := packages.Load(config, patterns...)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", strings.Join(patterns, " "), err)
	}
	if err := firstErrors(loaded); err != nil {
		return nil, err
	}
	t := &tree{root: root}
	seen := map[string]bool{} // a package and its test variant share files
	for _, p := range loaded {
		if p.Module == nil { // the standard library, named on purpose
			continue
		}
		t.module = p.Module.Path
		for _, syntax := range p.Syntax {
			f, ok := t.newFile(config.Fset, p, syntax)
			if !ok || seen[f.path] {
				continue
			}
			seen[f.path] = true
			t.files = append(t.files, f)
		}
	}
	return t, nil
}

// checkSystem type-checks a command, and what it imports of this module, for another system such as darwin/arm64. It
// compiles nothing: a build of all that a command imports takes minutes where nothing is cached.
func checkSystem(root, system, command string) error {
	goos, arch, ok := strings.Cut(system, "/")
	if !ok {
		return fmt.Errorf("%q is no system: write GOOS/GOARCH, as in darwin/arm64", system)
	}
	config := &packages.Config{
		Mode: packages.NeedName | packages.NeedImports | packages.NeedDeps | packages.NeedModule,
		Dir:  root, Env: append(os.Environ(), "GOOS="+goos, "GOARCH="+arch, "CGO_ENABLED=0"),
	}
	listed, err := packages.Load(config, command)
	if err != nil {
		return fmt.Errorf("list %s for %s: %w", command, system, err)
	}
	var ours []string
	packages.Visit(listed, nil, func(p *packages.Package) {
		if p.Module != nil && p.Module.Main {
			ours = append(ours, p.PkgPath)
		}
	})
	config.Mode |= packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesSizes
	loaded, err := packages.Load(config, ours...)
	if err != nil {
		return fmt.Errorf("load %s for %s: %w", command, system, err)
	}
	return firstErrors(loaded)
}

// newFile reports false for a file outside the tree: a generated test main.
func (t *tree) newFile(fset *token.FileSet, p *packages.Package, syntax *ast.File) (*file, bool) {
	name := fset.PositionFor(syntax.Package, false).Filename
	below, err := filepath.Rel(t.root, name)
	if err != nil || !filepath.IsLocal(below) {
		return nil, false
	}
	below = filepath.ToSlash(below)
	return &file{
		module:    t.module,
		pkg:       path.Dir(below),
		path:      below,
		test:      strings.HasSuffix(below, "_test.go"),
		generated: strings.HasSuffix(below, "_gen.go") || ast.IsGenerated(syntax),
		fset:      fset,
		syntax:    syntax,
		info:      p.TypesInfo,
	}, true
}

// at makes a complaint about a place in the file.
func (f *file) at(pos token.Pos, wrong, remedy string) complaint {
	p := f.fset.PositionFor(pos, false)
	return complaint{path: f.path, line: p.Line, col: p.Column, wrong: wrong, remedy: remedy}
}

func (f *file) line(pos token.Pos) int { return f.fset.PositionFor(pos, false).Line }

// firstErrors lists what does not load, in at most ten lines.
func firstErrors(loaded []*packages.Package) error {
	var lines []string
	for _, p := range loaded {
		for _, e := range p.Errors {
			if len(p.Errors) > 1 && strings.HasPrefix(e.Msg, "# ") {
				continue // the type checker has reported the same
			}
			lines = append(lines, "\t"+e.Error())
		}
	}
	if len(lines) == 0 {
		return nil
	}
	total := len(lines)
	lines = lines[:min(total, 10)]
	return fmt.Errorf("%d errors keep the packages from loading, make them build first:\n%s", total, strings.Join(lines, "\n"))
}
