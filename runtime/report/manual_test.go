package report

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"hyperscale/runtime/report/reporttest"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// TestManual keeps docs/result.md equal to the structs.
func TestManual(t *testing.T) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "result.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("<!-- Generated from runtime/report/result.go: go test ./runtime/report -rewrite -->\n\n" +
		"# The result file\n\n`hyperscale run FILE --out json=result.json` and `hyperscale submit --wait` write it when the job has ended, interrupted\n" +
		"or not. Integers stand for nanoseconds, thousandths or parts per million, as each field says. Fields may be added,\n" +
		"never renamed.\n\n    hyperscale run test.star --out json=result.json\n    jq '.workflows[].steps[] | {name, started, p99: .latency_ns.p99}' result.json\n")
	for _, decl := range file.Decls {
		decl, ok := decl.(*ast.GenDecl)
		if !ok || decl.Tok != token.TYPE {
			continue
		}
		spec := decl.Specs[0].(*ast.TypeSpec)
		fmt.Fprintf(&b, "\n## %s\n\n%s\n| field | type | meaning |\n|---|---|---|\n", spec.Name.Name, decl.Doc.Text())
		for _, field := range spec.Type.(*ast.StructType).Fields.List {
			b.WriteString(row(t, fset, field))
		}
	}
	reporttest.Golden(t, "../../docs/result.md", b.String())
}

func row(t *testing.T, fset *token.FileSet, field *ast.Field) string {
	var kind strings.Builder
	if err := printer.Fprint(&kind, fset, field.Type); err != nil {
		t.Fatal(err)
	}
	meaning := strings.TrimSpace(field.Comment.Text())
	if meaning == "" {
		t.Fatalf("field %s says nothing: give it a comment", kind.String())
	}
	if field.Tag == nil { // embedded: its fields stand here
		return fmt.Sprintf("| (those of %s) | | %s |\n", strings.TrimPrefix(kind.String(), "*"), meaning)
	}
	tag, err := strconv.Unquote(field.Tag.Value)
	if err != nil {
		t.Fatal(err)
	}
	name, option, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
	if name == "-" {
		return "" // no file has it
	}
	if option != "" {
		meaning += "; absent if there is nothing to say"
	}
	return fmt.Sprintf("| %s | %s | %s |\n", name, typeName(kind.String()), meaning)
}

// typeName is the kind's name in JSON.
func typeName(kind string) string {
	kind = strings.TrimPrefix(kind, "*")
	for prefix, word := range map[string]string{"[]": "list of ", "map[string]": "object of "} {
		if element, ok := strings.CutPrefix(kind, prefix); ok {
			return word + typeName(element)
		}
	}
	switch kind {
	case "string", "Buckets":
		return "text"
	case "bool":
		return "boolean"
	case "int64", "uint64", "uint32", "int":
		return "integer"
	}
	return "[" + kind + "](#" + strings.ToLower(kind) + ")"
}
