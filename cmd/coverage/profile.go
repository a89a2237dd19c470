package main

import (
	"bufio"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// block is a run of statements that are run together.
type block struct {
	file     string // below core: manager/gates.go
	from, to position
	function string // Machine.onFile; empty: none
	bug      bool   // it only reports a broken assumption
	worlds   bool   // some world runs it
	property bool   // some property does
}

type position struct{ line, column int }

func (b *block) pkg() string { return filepath.Dir(b.file) }

// name is what testdata/unreached.txt calls its function.
func (b *block) name() string { return b.pkg() + "." + b.function }

// place is the block's range of lines.
func (b *block) place() string {
	if b.from.line == b.to.line {
		return fmt.Sprintf("core/%s:%d", b.file, b.from.line)
	}
	return fmt.Sprintf("core/%s:%d-%d", b.file, b.from.line, b.to.line)
}

// corePath is what each line of a profile that counts begins with.
const corePath = "hyperscale/core/"

// blocks collects the blocks of core, each once.
type blocks map[string]*block

// read adds a profile: mark is called for each block that it saw run.
func (all blocks) read(profile io.Reader, mark func(*block)) error {
	lines := bufio.NewScanner(profile)
	for lines.Scan() {
		line, ok := strings.CutPrefix(lines.Text(), corePath)
		if !ok {
			continue
		}
		key, counts, _ := strings.Cut(line, " ")
		b := all[key]
		if b == nil {
			b = &block{}
			file, span, _ := strings.Cut(key, ":")
			b.file = file
			if _, err := fmt.Sscanf(span, "%d.%d,%d.%d", &b.from.line, &b.from.column, &b.to.line, &b.to.column); err != nil {
				return fmt.Errorf("line %q: want FILE:LINE.COLUMN,LINE.COLUMN STATEMENTS COUNT: %w", lines.Text(), err)
			}
			all[key] = b
		}
		if !strings.HasSuffix(counts, " 0") {
			mark(b)
		}
	}
	return lines.Err()
}

func (all blocks) readFile(name string, mark func(*block)) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := all.read(f, mark); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// name gives each block its function, from the sources below root/core, and drops those
// of generated files.
func (all blocks) name(root string) error {
	files := map[string][]*block{}
	//lint:orderfree each file is named by itself
	for _, b := range all {
		files[b.file] = append(files[b.file], b)
	}
	//lint:orderfree each file is named by itself
	for name, inside := range files {
		path := filepath.Join(root, "core", name)
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		if err != nil {
			return fmt.Errorf("name the functions of a profile: %w: take a profile of these sources", err)
		}
		if ast.IsGenerated(f) {
			all.drop(name)
			continue
		}
		for _, b := range inside {
			nameBlock(set, f, b)
		}
	}
	return nil
}

func (all blocks) drop(file string) {
	//lint:orderfree each is dropped by itself
	for key, b := range all {
		if b.file == file {
			delete(all, key)
		}
	}
}

// leave drops packages, with those below them, and returns how many blocks they have.
func (all blocks) leave(packages []string) (n int) {
	//lint:orderfree a sum does not depend on order
	for key, b := range all {
		for _, p := range packages {
			if b.pkg() == p || strings.HasPrefix(b.pkg(), p+"/") {
				delete(all, key)
				n++
			}
		}
	}
	return n
}

// nameBlock finds the function that a block is in.
func nameBlock(set *token.FileSet, f *ast.File, b *block) {
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || set.Position(fn.Pos()).Line > b.from.line || set.Position(fn.End()).Line < b.to.line {
			continue
		}
		b.function = fn.Name.Name
		if fn.Recv != nil {
			b.function = receiver(fn.Recv.List[0].Type) + "." + fn.Name.Name
		}
		b.bug = onlyBug(set, fn, b)
		return
	}
}

// receiver is the name of a method's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return "?"
}

// onlyBug says whether all that a block does is to report a broken assumption.
func onlyBug(set *token.FileSet, fn *ast.FuncDecl, b *block) bool {
	found := false
	ast.Inspect(fn, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		at := set.Position(call.Pos())
		in := (position{at.Line, at.Column}).within(b)
		switch f := call.Fun.(type) {
		case *ast.SelectorExpr:
			x, named := f.X.(*ast.Ident)
			found = found || in && named && x.Name == "node" && f.Sel.Name == "Bug"
		case *ast.Ident:
			found = found || in && (f.Name == "Bug" && strings.HasPrefix(b.file, "node/") || f.Name == "panic")
		}
		return true
	})
	return found
}

func (p position) within(b *block) bool {
	return p.compare(b.from) >= 0 && p.compare(b.to) < 0
}

func (p position) compare(q position) int {
	return cmp.Or(cmp.Compare(p.line, q.line), cmp.Compare(p.column, q.column))
}

// sorted is every block, by file and place.
func (all blocks) sorted() []*block {
	list := make([]*block, 0, len(all))
	//lint:orderfree it is sorted
	for _, b := range all {
		list = append(list, b)
	}
	slices.SortFunc(list, func(a, b *block) int {
		return cmp.Or(cmp.Compare(a.file, b.file), a.from.compare(b.from), a.to.compare(b.to))
	})
	return list
}
