package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// unmeasured are directories, at any depth, whose code is not the product's.
var unmeasured = []string{"testdata", ".git", ".ci", "out", "bench", "vendor"}

// directory is one package as its files lie, also those that the build leaves out.
type directory struct {
	pkg        string               // below the root, with slashes
	all        map[string]*ast.File // by base name, written by hand
	production map[string]*ast.File // of all, without tests and doc.go
}

// source parses every directory of the tree, whatever packages are named.
func source(root string) (*token.FileSet, []*directory, error) {
	fset := token.NewFileSet()
	found := map[string]*directory{}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name != root && slices.Contains(unmeasured, entry.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		below, _ := filepath.Rel(root, name) // it was found below the root
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(fset, filepath.ToSlash(below), content, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil || ast.IsGenerated(f) {
			return err
		}
		pkg, base := path.Dir(filepath.ToSlash(below)), entry.Name()
		d := found[pkg]
		if d == nil {
			d = &directory{pkg: pkg, all: map[string]*ast.File{}, production: map[string]*ast.File{}}
			found[pkg] = d
		}
		d.all[base] = f
		if !strings.HasSuffix(base, "_test.go") && base != "doc.go" {
			d.production[base] = f
		}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("measure: %w", err)
	}
	directories := slices.SortedFunc(maps.Values(found), func(a, b *directory) int { return strings.Compare(a.pkg, b.pkg) })
	return fset, directories, nil
}

// shapes measures the types of one package. It needs no type checker: a method
// belongs to the name of its receiver, a bool is what says bool.
func (d *directory) shapes(fset *token.FileSet, add func(figure)) {
	if len(d.production) == 0 {
		return
	}
	add(figure{measure: "files", place: d.pkg, value: len(d.production), path: d.pkg})
	if k := knot(d.production); len(k) > 1 {
		add(figure{measure: "knot", place: d.pkg, value: len(k), path: d.pkg, detail: strings.Join(k, " ")})
	}
	methods := map[string]int{}
	types := map[string]token.Pos{}
	structs := map[string]*shape{}
	for _, base := range slices.Sorted(maps.Keys(d.production)) {
		f := d.production[base]
		for _, decl := range f.Decls {
			if function, ok := decl.(*ast.FuncDecl); ok && function.Recv != nil {
				methods[receiver(function)]++
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			types[spec.Name.Name] = spec.Pos()
			if s, ok := spec.Type.(*ast.StructType); ok {
				if structs[spec.Name.Name] == nil {
					structs[spec.Name.Name] = &shape{}
				}
				structs[spec.Name.Name].count(s)
			}
			return true
		})
	}
	of := func(measure, name string, value int) {
		if value > 0 && name != "" {
			at := fset.PositionFor(types[name], false)
			add(figure{measure: measure, place: d.pkg + "." + name, value: value, path: at.Filename, line: at.Line})
		}
	}
	for name, n := range methods {
		of("methods", name, n)
	}
	for name, s := range structs {
		of("fields", name, s.fields)
		of("bools", name, s.bools)
		if strings.HasPrefix(d.pkg, "core/") {
			of("functions", name, s.functions)
		}
	}
}

// shape counts the members of one struct type, without those of embedded types.
type shape struct{ fields, bools, functions int }

func (s *shape) count(t *ast.StructType) {
	for _, field := range t.Fields.List {
		names := max(1, len(field.Names))
		s.fields += names
		if id, ok := field.Type.(*ast.Ident); ok && id.Name == "bool" {
			s.bools += names
		}
		ast.Inspect(field.Type, func(n ast.Node) bool {
			_, is := n.(*ast.FuncType)
			if is {
				s.functions++
			}
			return !is
		})
	}
}

// receiver names the type of a method; it returns "" if it cannot.
func receiver(function *ast.FuncDecl) string {
	t := function.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if index, ok := t.(*ast.IndexExpr); ok {
		t = index.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}
