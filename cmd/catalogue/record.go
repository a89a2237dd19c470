package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// recordFields is how many fields a struct of a record may have: core/message/record's
// FieldsMax.
const recordFields = 32

// closedTypes are the types of other packages that a record may hold, and what they are.
// None of them ever gets another field.
var closedTypes = map[string]string{
	"time.Duration": "int64", "node.ID": "string", "node.Addr": "string",
	"message.JobState": "uint8", "message.WorkflowState": "uint8", "message.Tenancy": "uint8", "message.Fault": "uint8",
	"message.Fence": "fence", "message.FileDigest": "file",
}

// records are the structs of core/message/record.
type records struct {
	structs []*recordType
	named   map[string]string // other named types to what they are made of
}

type recordType struct {
	name   string
	fields []recordField
}

type recordField struct {
	name, key string
	required  bool
	list      bool
	most      int    // elements of a list
	typ       string // of the field, or of a list's elements
}

func runRecords(dir string) error {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return err
	}
	r := &records{named: map[string]string{}}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "_gen.go") {
			continue
		}
		if err := r.parse(path); err != nil {
			return err
		}
	}
	code, err := r.emit()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "record_gen.go"), code, 0o644)
}

func (r *records) parse(path string) error {
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		return err
	}
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.TYPE {
			continue
		}
		for _, spec := range g.Specs {
			t := spec.(*ast.TypeSpec)
			switch u := t.Type.(type) {
			case *ast.Ident:
				r.named[t.Name.Name] = u.Name
			case *ast.StructType:
				if err := r.add(t.Name.Name, u); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// add reads an exported struct: fields with tags, and Unknown as the last one.
func (r *records) add(name string, u *ast.StructType) error {
	if !ast.IsExported(name) {
		return nil
	}
	s := &recordType{name: name}
	last := len(u.Fields.List) - 1
	if last < 0 || len(u.Fields.List[last].Names) != 1 || u.Fields.List[last].Names[0].Name != "Unknown" {
		return fmt.Errorf("%s: its last field must be Unknown Unknown: a record keeps the fields that it does not know", name)
	}
	if last > recordFields {
		return fmt.Errorf("%s has %d fields, %d is the bound: group some of them in a struct", name, last, recordFields)
	}
	seen := map[string]bool{}
	for _, f := range u.Fields.List[:last] {
		field, err := recordFieldOf(f)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if seen[field.key] {
			return fmt.Errorf("%s.%s: the name %q stands twice", name, field.name, field.key)
		}
		seen[field.key] = true
		s.fields = append(s.fields, field)
	}
	r.structs = append(r.structs, s)
	return nil
}

func recordFieldOf(f *ast.Field) (recordField, error) {
	field := recordField{name: f.Names[0].Name}
	if f.Tag != nil {
		tag, err := strconv.Unquote(f.Tag.Value)
		if err != nil {
			return field, err
		}
		field.key = reflect.StructTag(tag).Get("rec")
		field.required = reflect.StructTag(tag).Get("require") == "true"
		field.most, _ = strconv.Atoi(reflect.StructTag(tag).Get("max"))
	}
	if field.key == "" || len(field.key) > 31 {
		return field, fmt.Errorf("%s: name %q: give it a rec tag of 1 to 31 bytes", field.name, field.key)
	}
	t := f.Type
	if a, ok := t.(*ast.ArrayType); ok && a.Len == nil {
		t, field.list = a.Elt, true
		if field.most < 1 {
			return field, fmt.Errorf("%s: a list needs a bound: give it a max tag", field.name)
		}
	}
	switch t := t.(type) {
	case *ast.Ident:
		field.typ = t.Name
	case *ast.SelectorExpr:
		field.typ = fmt.Sprintf("%s.%s", t.X, t.Sel)
	}
	return field, nil
}

// base returns what a type is on a disk: string, bool, int64, uint8, uint16, uint32,
// uint64, fence, file, or the name of a struct; empty when a record may not hold it.
func (r *records) base(typ string) string {
	switch typ {
	case "string", "bool", "int64", "uint8", "uint16", "uint32", "uint64":
		return typ
	}
	if of, ok := r.named[typ]; ok {
		return r.base(of)
	}
	if slices.ContainsFunc(r.structs, func(s *recordType) bool { return s.name == typ }) {
		return typ
	}
	return closedTypes[typ]
}

func (r *records) emit() ([]byte, error) {
	slices.SortFunc(r.structs, func(a, b *recordType) int { return strings.Compare(a.name, b.name) })
	e := &recordEmitter{r: r}
	for _, s := range r.structs {
		for _, f := range s.fields {
			if r.base(f.typ) == "" {
				return nil, fmt.Errorf("%s.%s: a record cannot hold a %s: it may drop fields that it does not know", s.name, f.name, f.typ)
			}
		}
		e.count(s)
		e.append(s)
		e.read(s)
	}
	head := "// Code generated by cmd/catalogue. DO NOT EDIT.\n\npackage record\n\nimport (\n\"github.com/tinylib/msgp/msgp\"\n\n"
	if bytes.Contains(e.Bytes(), []byte("message.")) {
		head += "\"hyperscale/core/message\"\n"
	}
	if bytes.Contains(e.Bytes(), []byte("node.")) {
		head += "\"hyperscale/core/node\"\n"
	}
	if bytes.Contains(e.Bytes(), []byte("time.")) {
		head = strings.Replace(head, "import (\n", "import (\n\"time\"\n\n", 1)
	}
	return format.Source(append([]byte(head+")\n\n"), e.Bytes()...))
}
