package scenarios_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
)

// One build holds many bugs, and a process chooses one: mutant schemata. A bug that changes
// only bodies of functions adds a variant of each beside the original, whose head calls it:
//
//	func (t *T) f(a int) int { switch planted__.Bug { case 7: return t.f__bug7(a) }; ...
//	func (t *T) f__bug7(a int) int { ...
//
// All other bugs (a constant, a type, a signature, a new function) need their own builds.

// parsed is the text of a source file and its syntax.
type parsed struct {
	*ast.File
	text string
	set  *token.FileSet
}

func parse(text string) (*parsed, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "planted.go", text, parser.ParseComments)
	return &parsed{file, text, set}, err
}

func (p *parsed) offset(at token.Pos) int           { return p.set.Position(at).Offset }
func (p *parsed) line(at token.Pos) int             { return p.set.Position(at).Line }
func (p *parsed) between(from, to token.Pos) string { return p.text[p.offset(from):p.offset(to)] }
func (p *parsed) head(f *ast.FuncDecl) string       { return p.between(f.Pos(), f.Body.Lbrace) }
func (p *parsed) uses(name string, in ast.Node) bool {
	return slices.ContainsFunc(p.Unresolved, isUse(name, in))
}

func isUse(name string, in ast.Node) func(*ast.Ident) bool {
	return func(i *ast.Ident) bool { return i.Name == name && in.Pos() <= i.Pos() && i.Pos() < in.End() }
}

// declarations returns those other than imports.
func (p *parsed) declarations() []ast.Decl {
	return slices.DeleteFunc(slices.Clone(p.Decls), func(d ast.Decl) bool {
		g, ok := d.(*ast.GenDecl)
		return ok && g.Tok == token.IMPORT
	})
}

// version matches a last part of an import path that is not the package's name.
var version = regexp.MustCompile(`^v[0-9]+$`)

// importName returns the name by which a file refers to a package.
func importName(spec *ast.ImportSpec) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	from := strings.Trim(spec.Path.Value, `"`)
	if name := path.Base(from); !version.MatchString(name) {
		return name
	}
	return path.Base(path.Dir(from))
}

// variant is a function with the body of a bug.
type variant struct {
	bug         int
	of          *parsed // the planted file
	function    *ast.FuncDecl
	declaration int // its index
	at          int // its first line in the file of variants
}

// schema is one source file and the variants of its functions.
type schema struct {
	original *parsed
	variants []variant
}

func newSchema(text string) (*schema, error) {
	original, err := parse(text)
	return &schema{original: original}, err
}

// plant adds the variants of a bug. It returns false if the bug changes more than bodies, or
// leaves an import unused, which does not compile: the bug's own build reports that.
func (s *schema) plant(bug int, text string) bool {
	p, err := parse(text)
	if err != nil {
		return false
	}
	for _, spec := range p.Imports {
		if !p.uses(importName(spec), p) {
			return false
		}
	}
	before, after := s.original.declarations(), p.declarations()
	if len(before) != len(after) {
		return false
	}
	var all []variant
	for i := range before {
		if s.original.between(before[i].Pos(), before[i].End()) == p.between(after[i].Pos(), after[i].End()) {
			continue
		}
		was, ok := before[i].(*ast.FuncDecl)
		is, also := after[i].(*ast.FuncDecl)
		if !ok || !also || was.Body == nil || is.Body == nil || s.original.head(was) != p.head(is) {
			return false
		}
		all = append(all, variant{bug: bug, of: p, function: is, declaration: i})
	}
	s.variants = append(s.variants, all...)
	return true
}

func (v *variant) name() string { return fmt.Sprintf("%s__bug%d", v.function.Name.Name, v.bug) }

// beside returns the file of variants, and records where in it each one begins.
func (s *schema) beside() string {
	imports := map[string]bool{}
	var text strings.Builder
	fmt.Fprintf(&text, "package %s\n\n", s.original.Name.Name)
	for _, v := range s.variants {
		for _, spec := range v.of.Imports {
			line := fmt.Sprintf("import %s %s\n", importName(spec), spec.Path.Value)
			if !imports[line] && v.of.uses(importName(spec), v.function) {
				imports[line] = true
				text.WriteString(line)
			}
		}
	}
	for i := range s.variants {
		v := &s.variants[i]
		text.WriteString("\n")
		v.at = 1 + strings.Count(text.String(), "\n")
		text.WriteString(v.of.between(v.function.Pos(), v.function.Name.Pos()) + v.name() + v.of.between(v.function.Name.End(), v.function.End()) + "\n")
	}
	return text.String()
}

// edit replaces a piece of a text.
type edit struct {
	from, to int
	by       string
}

// heads returns the original, in which each function calls the variant of the chosen bug. Its
// lines keep their numbers.
func (s *schema) heads(module string) string {
	o := s.original
	end := o.offset(o.Name.End())
	edits := []edit{{end, end, fmt.Sprintf("; import planted__ %q", module+"/planted")}}
	for i, d := range o.declarations() {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		var cases strings.Builder
		target, arguments, named := call(o, f)
		for _, v := range s.variants {
			switch {
			case v.declaration != i:
			case f.Type.Results.NumFields() > 0:
				fmt.Fprintf(&cases, "case %d: return %s__bug%d%s; ", v.bug, target, v.bug, arguments)
			default:
				fmt.Fprintf(&cases, "case %d: %s__bug%d%s; return; ", v.bug, target, v.bug, arguments)
			}
		}
		if cases.Len() > 0 {
			brace := o.offset(f.Body.Lbrace) + 1
			edits = append(append(edits, named...), edit{brace, brace, " switch planted__.Bug { " + cases.String() + "};"})
		}
	}
	slices.SortFunc(edits, func(a, b edit) int { return b.from - a.from })
	text := o.text
	for _, e := range edits {
		text = text[:e.from] + e.by + text[e.to:]
	}
	return text
}

// call returns how a function calls its variant, before and after the bug's number, and the
// edits that name an unnamed receiver, parameter or type parameter.
func call(o *parsed, f *ast.FuncDecl) (target, arguments string, edits []edit) {
	fresh := 0
	names := func(list *ast.FieldList) (all []string) {
		if list == nil {
			return nil
		}
		for _, field := range list.List {
			for _, name := range field.Names {
				if name.Name != "_" {
					all = append(all, name.Name)
					continue
				}
				fresh++
				all = append(all, fmt.Sprintf("planted__%d", fresh))
				edits = append(edits, edit{o.offset(name.Pos()), o.offset(name.End()), all[len(all)-1]})
			}
			if field.Names == nil {
				fresh++
				all = append(all, fmt.Sprintf("planted__%d", fresh))
				at := o.offset(field.Type.Pos())
				edits = append(edits, edit{at, at, all[len(all)-1] + " "})
			}
			if _, variadic := field.Type.(*ast.Ellipsis); variadic {
				all[len(all)-1] += "..."
			}
		}
		return all
	}
	target = f.Name.Name
	if receiver := names(f.Recv); len(receiver) == 1 {
		target = receiver[0] + "." + target
	}
	if types := names(f.Type.TypeParams); len(types) > 0 {
		arguments = "[" + strings.Join(types, ", ") + "]"
	}
	return target, arguments + "(" + strings.Join(names(f.Type.Params), ", ") + ")", edits
}

// has reports whether a line of the file of variants belongs to a bug.
func (s *schema) has(bug, line int) bool {
	return slices.ContainsFunc(s.variants, func(v variant) bool {
		return v.bug == bug && v.at <= line && line <= v.at+v.of.line(v.function.End())-v.of.line(v.function.Pos())
	})
}

// shift returns the difference between a line of the planted file and the same line among the
// variants.
func (s *schema) shift(bug, line int) (int, bool) {
	for _, v := range s.variants {
		if first := v.of.line(v.function.Pos()); v.bug == bug && first <= line && line <= v.of.line(v.function.End()) {
			return v.at - first, true
		}
	}
	return 0, false
}

// remove removes the variants of a bug.
func (s *schema) remove(bug int) {
	s.variants = slices.DeleteFunc(s.variants, func(v variant) bool { return v.bug == bug })
}
